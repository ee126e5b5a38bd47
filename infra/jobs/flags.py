"""The flags a job may declare, and the Work that a command line asks for."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from infra.jobs.types import Work
from infra.sharding.buckets import shard_of


class JobFlag(Enum):
    """The value is the name of the parsed option. All jobs take `--json`, so it is not here."""

    DRY_RUN = "dry_run"
    SHARD = "shard"
    ACCOUNT = "account"
    LIMIT = "limit"
    BATCH_SIZE = "batch_size"
    RATE = "rate"
    RESUME = "resume"


# The flags of a job that walks the rows of each shard by key (infra.jobs.walk).
WALK = frozenset(JobFlag)


def add_flags(
    parser: ArgumentParser, flags: Collection[JobFlag], aliases: Sequence[str], batch_size: int
) -> None:
    """Adds the given flags to the parser, and no others."""
    _add_databases(parser, flags, aliases)
    if JobFlag.DRY_RUN in flags:
        parser.add_argument("--dry-run", action="store_true", help="print what would change")
    if JobFlag.RESUME in flags:
        parser.add_argument(
            "--resume", action="store_true", help="continue where the last run stopped"
        )
    _add_numbers(parser, flags, batch_size)


def _add_databases(
    parser: ArgumentParser, flags: Collection[JobFlag], aliases: Sequence[str]
) -> None:
    """--shard or --account. argparse cannot print the help of an empty group."""
    if not {JobFlag.SHARD, JobFlag.ACCOUNT} & set(flags):
        return
    where = parser.add_mutually_exclusive_group()
    if JobFlag.SHARD in flags:
        where.add_argument("--shard", choices=aliases, help="only this database")
    if JobFlag.ACCOUNT in flags:
        where.add_argument("--account", type=count, metavar="ID", help="only this account")


def _add_numbers(parser: ArgumentParser, flags: Collection[JobFlag], batch_size: int) -> None:
    if JobFlag.LIMIT in flags:
        parser.add_argument("--limit", type=count, metavar="ROWS", help="stop after so many rows")
    if JobFlag.BATCH_SIZE in flags:
        text = f"rows at a time ({batch_size:,})"
        parser.add_argument(
            "--batch-size", type=count, default=batch_size, metavar="ROWS", help=text
        )
    if JobFlag.RATE in flags:
        parser.add_argument(
            "--rate", type=count, metavar="ROWS", help="at most so many rows a second"
        )


def work_of(options: Mapping[str, Any], aliases: Sequence[str], batch_size: int) -> Work:
    """The work of a command line, without the position to continue from.

    A batch is never larger than the limit, nor than the rows of one second at --rate, because the
    pause comes after the batch.
    """
    account_id, alias = options.get("account"), options.get("shard")
    if account_id is not None:
        aliases = [shard_of(account_id)]
    elif alias is not None:
        aliases = [alias]
    limit = options.get("limit")
    sizes = (options.get("batch_size") or batch_size, limit, options.get("rate"))
    size = min(size for size in sizes if size is not None)
    return Work(aliases, account_id, limit, size, dry_run=bool(options.get("dry_run")))


def count(text: str) -> int:
    """A whole number from 1, for argparse."""
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 2**63:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def parse_moment(text: str) -> datetime:
    """An aware time, for argparse. A time without an offset is UTC."""
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not an ISO 8601 time") from None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
