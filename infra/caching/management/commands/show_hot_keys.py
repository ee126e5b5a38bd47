"""`manage.py show_hot_keys`: what all processes together read most, and what of it is hot."""

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from redis.exceptions import RedisError

from infra.caching.fleet_reads import list_read_rates


class Command(BaseCommand):
    help = "Shows the Redis keys that are read most, how often, and which of them are hot."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            warm = list_read_rates(time.time())
        except RedisError as error:
            raise CommandError(f"Redis is away: {error}") from error
        if not options["json"]:
            self.stdout.write(f"{'reads/s':>9}  {'hot':<4} key")
        for name, reads_s in warm:
            is_hot = reads_s >= settings.HOT_KEY_READS
            row = {"key": name, "reads_s": round(reads_s, 1), "is_hot": is_hot}
            text = f"{reads_s:>9,.0f}  {'yes' if is_hot else '':<4} {name}"
            self.stdout.write(json.dumps(row) if options["json"] else text)
