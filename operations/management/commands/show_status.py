"""`manage.py show_status`: the state of the whole system on one screen."""

import json
import sys
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand

from operations.status.report import list_down, read_status
from operations.status.status_lines import format_status


class Command(BaseCommand):
    help = (
        "Shows databases, changes, Redis, images, workers, samples, periodic tasks and jobs within"
        " 2 s. The exit code is 1 if something is down."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        status = read_status(datetime.now(UTC))
        self.stdout.write(
            json.dumps(status) if options["json"] else "\n".join(format_status(status))
        )
        if list_down(status):
            sys.exit(1)
