"""`manage.py move_buckets`: moves accounts to another shard while people read and write.

**When**: a shard has too many accounts. `--from`, `--to` and `--share` say which shard gives which
part of its buckets to which one. `--dry-run` prints the plan and what is missing. The steps:

| step | what is done then |
|---|---|
| guarded | Triggers on both shards can refuse writes of the accounts. The target refuses them from the beginning. |
| published | A publication and a slot on the source, a subscription on the target. |
| copied | All rows are on the target, and changes follow. A line every two seconds says how far it is. |
| compared | Number and hash of the rows of each owner are equal on both shards. |
| way back prepared | A slot on the target, for the other direction. |
| switched | Writes waited, what was left was applied, undelivered changes were handed over, the bucket map changed, and writes went on. |
| settled | No session on the source is older than the switch, so no process reads there by the old map. |
| watched | The source gets what is written on the target. |

With [`RECENT_INDEX=by_author`](../../how-to/choose-a-recent-posts-index.md) the recent-posts index
moves like the other tables. The first step also deletes rows that the target has from when the
index was replicated. The switch gives the target the low-water mark of the source, if that is
higher. A move is refused while the index of a shard is not what the setting says, and keeps the
setting with which it began.

**Costs**: reads every table of the source twice, once to copy and once to compare. While it copies,
a write of a moving account costs its triggers, and the source keeps its log. **Stopping it**:
Ctrl-C or `kill -9`. A switch is not interrupted by Ctrl-C.
"""  # noqa: E501

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from infra.sharding.bucket_set import BucketSet, take_share
from infra.sharding.buckets import bucket_map
from infra.sharding.shards import shard_aliases
from operations.moves.check import find_faults, find_warnings
from operations.moves.command import MoveCommand
from operations.moves.errors import MoveRefused
from operations.moves.plan import estimate
from operations.moves.rows import create_move


class Command(MoveCommand):
    help = (
        "Moves a share of the buckets of one shard to another, and keeps the way back open until"
        " complete_move. Writes of the accounts that move wait for less than a second."
    )
    flags = frozenset({JobFlag.DRY_RUN})

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        shards = shard_aliases()
        for flag, name, what in (("--from", "source", "gives"), ("--to", "target", "gets")):
            text = f"the shard that {what}"
            parser.add_argument(flag, dest=name, choices=shards, required=True, help=text)
        text = "of the buckets of the first shard"
        parser.add_argument("--share", type=_share, metavar="1/4", required=True, help=text)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        source, target, buckets = _read_plan(options)
        expected = estimate(source, buckets)
        owned = list(bucket_map()).count(source)
        details = [
            f"{buckets.size} of {owned} buckets from {source} to {target}:"
            f" about {expected.rows:,} rows, {expected.size_bytes / 1e6:,.0f} MB with indexes",
            *find_warnings(source, target),
        ]
        yield Batch(0, details=details)
        if faults := find_faults(source, target):
            raise MoveRefused("\n".join(faults))
        if not work.dry_run:
            yield from self.go_on(create_move(source, target, buckets))


def _read_plan(options: dict[str, Any]) -> tuple[str, str, BucketSet]:
    source, target, share = options["source"], options["target"], options["share"]
    if source == target:
        raise MoveRefused("--from and --to are the same shard")
    owned = [bucket for bucket, alias in enumerate(bucket_map()) if alias == source]
    if not owned:
        raise MoveRefused(f"{source} has no buckets")
    try:
        return source, target, take_share(owned, share)
    except ValueError as error:
        raise MoveRefused(str(error)) from error


def _share(text: str) -> Fraction:
    """For argparse: 1/4, 0.25 or 1."""
    try:
        share = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ArgumentTypeError(f"{text!r} is not a share such as 1/4") from None
    if not 0 < share <= 1:
        raise ArgumentTypeError(f"{text!r} is not between 0 and 1")
    return share
