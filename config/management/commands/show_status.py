"""`manage.py show_status`: one screen of the whole system."""

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand

from config.status.report import read_status
from config.status.screen import format_status


class Command(BaseCommand):
    help = "Shows the state of databases, changes, Redis, workers, samples and jobs in two seconds."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        status = read_status(datetime.now(UTC))
        self.stdout.write(
            json.dumps(status) if options["json"] else "\n".join(format_status(status))
        )
