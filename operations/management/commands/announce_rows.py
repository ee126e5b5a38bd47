"""`manage.py announce_rows`: lets all that is derived follow rows that another program wrote."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from django.core.management.base import CommandError

from accounts.jobs.announce_accounts import ACCOUNTS
from infra.jobs.announce import WrittenSpan, announce_lines, announce_span
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, parse_moment
from infra.jobs.types import Batch, Work
from posts.jobs.announce_posts import POSTS
from relations.jobs.announce_follows import FOLLOWS

TABLES = {"accounts": ACCOUNTS, "follows": FOLLOWS, "posts": POSTS}
STDIN = "-"


class Command(JobCommand):
    help = (
        "For rows that another program changed by SQL: writes changes for them, so that caches,"
        " counts, other shards, timelines and subscribers of the change feed follow."
    )
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("table", choices=[*TABLES], help="whose rows")
        parser.add_argument(
            "--ids",
            metavar="FILE",
            help="only these, a line each: an account, two accounts of a follow, a post;"
            f" {STDIN}: standard input",
        )
        parser.add_argument("--since", type=parse_moment, help="written from, ISO 8601")
        parser.add_argument("--until", type=parse_moment, help="written before")

    def is_by_database(self, options: dict[str, Any]) -> bool:
        return options["ids"] is None

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        rows, span = TABLES[options["table"]], WrittenSpan(options["since"], options["until"])
        if options["ids"] is None:
            if span == (None, None) and work.account_id is None:
                raise CommandError("name rows by --ids, --account, --since or --until")
            yield from announce_span(work, rows, span)
            return
        if span != (None, None) or work.account_id is not None or len(work.aliases) == 1:
            raise CommandError("--ids says which rows: it goes without other choices")
        with _open(options["ids"]) as lines:
            yield from announce_lines(work, rows, lines)


def _open(path: str) -> Any:
    """Raises: CommandError."""
    try:
        return nullcontext(sys.stdin) if path == STDIN else open(path, encoding="utf-8")
    except OSError as error:
        raise CommandError(str(error)) from None
