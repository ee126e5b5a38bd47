"""`manage.py prepare_run`: all that `make run` needs Django for before it shows its screen.

In one process: Django takes a second to load, and three commands would load it three times.
"""

import io
import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from config.runner.terminal import step
from demo.community import FIRST_ACCOUNTS, PASSWORD


class Command(BaseCommand):
    help = "Migrates, loads the demo community and writes what the screen of `make run` shows."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("answer", type=int, help="the file descriptor that gets the JSON")

    def handle(self, *args: Any, answer: int, **options: Any) -> None:
        with step("bringing the databases up to date"):
            _said_by("migrate_shards")
            _said_by("backfill_recent_posts")
        with step("loading the demo community"):
            _said_by("load_demo")
        facts = {
            "accounts": FIRST_ACCOUNTS,
            "password": PASSWORD,
            "token": _said_by("demo_token"),
        }
        with open(answer, "w") as output:
            json.dump(facts, output)


def _said_by(command: str) -> str:
    output = io.StringIO()
    call_command(command, stdout=output)
    return output.getvalue().strip()
