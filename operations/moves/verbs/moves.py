"""Commands on one move of buckets."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, ClassVar

from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.runs import Run, describe_options, recorded_run
from infra.jobs.types import Batch, Work
from infra.sharding.buckets import BucketSet, bucket_map, take_share
from infra.sharding.placement import Placement
from infra.sharding.shards import shard_aliases
from infra.verbs import DocumentedCommand
from operations.moves.check import find_faults, find_warnings
from operations.moves.errors import MoveRefused
from operations.moves.models import Move
from operations.moves.route import claim, leave_for, run_route
from operations.moves.rows import buckets_of, create_move, find_unfinished, list_moves, take_move
from operations.moves.tables import estimate
from operations.moves.types import MoveRoute


class MoveCommand(JobCommand):
    """A subclass names its route. Without one it goes on with the route of the move."""

    route: ClassVar[MoveRoute | None] = None
    placement = Placement.SHARDED

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        yield from self.go_on(self.find_move())

    def find_move(self) -> Move:
        """The move that is not finished. Raises: MoveRefused."""
        move = find_unfinished()
        if move is None:
            raise MoveRefused("no move is unfinished")
        return move

    def go_on(self, move: Move) -> Iterator[Batch]:
        """Takes the move over, and does what is left of the route."""
        ref = take_move(move)
        claim(ref, is_abort=self.route is MoveRoute.ABORT)
        if self.route is not None:
            leave_for(move, ref, self.route)
        yield Batch(0, details=[f"{move}: {ref.buckets.size} buckets, {move.route}"])
        yield from run_route(move, ref)

    def _start(self, work: Work, options: dict[str, Any]) -> AbstractContextManager[Run]:
        """All these commands have one lock, so that one process at a time works on moves."""
        flags = describe_options(options, self._defaults, self._own)
        return recorded_run("moves", [""], f"{self.name} {flags}".strip(), work.dry_run)


class MoveBuckets(MoveCommand):
    """Moves a share of the buckets of one shard to another, and keeps the way back open until
    moves complete. Writes of the accounts that move wait for less than a second.

    **When**: a shard has too many accounts. `--from`, `--to` and `--share` say which shard gives
    which part of its buckets to which one. `--dry-run` prints the plan and what is missing. The
    steps:

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

    With [`RECENT_INDEX=by_author`](../../how-to/choose-a-recent-posts-index.md) the recent-posts
    index moves like the other tables. The first step also deletes rows that the target has from
    when the index was replicated. The switch gives the target the low-water mark of the source, if
    that is higher. A move is refused while the index of a shard is not what the setting says, and
    keeps the setting with which it began.

    **Costs**: reads every table of the source twice, once to copy and once to compare. While it
    copies, a write of a moving account costs its triggers, and the source keeps its log. **Stopping
    it**: Ctrl-C or `kill -9`. A switch is not interrupted by Ctrl-C.
    """  # noqa: E501

    name = "moves start"
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


class ResumeMove(MoveCommand):
    """Goes on with the unfinished move where it stopped: with moving, undoing, giving up or
    completing.

    **When**: one of these commands was stopped or has failed. It goes on with what that command
    did.
    """

    name = "moves resume"


class AbortMove(MoveCommand):
    """Gives the unfinished move up before its accounts have moved: the source keeps no log for it
    any more, and the copies on the target are deleted.

    **When**: a move should not go on and its accounts have not switched; then it is refused. First
    the source is open and keeps no log. The rest needs the target: if that does not answer, run
    `moves resume` later. **Costs**: reads every table of the target once, and deletes the copies in
    transactions of 4 MB of a table.
    """

    name = "moves abort"
    route = MoveRoute.ABORT


class UndoMove(MoveCommand):
    """Gives the accounts of the unfinished move back to the shard that they came from, with all
    that was written since, and deletes the copies on the other.

    **When**: the accounts should be back on their old shard, before `moves complete`. It compares
    the rows again, switches back as `moves start` did, and deletes the copies. **Costs**: reads
    every table of both shards once.
    """

    name = "moves undo"
    route = MoveRoute.UNDO


class CompleteMove(MoveCommand):
    """Ends the way back of a move whose accounts have moved, and deletes their rows on the shard
    that they came from.

    **When**: the accounts have switched and the way back is not needed any more. It deletes the
    rows on the source. **Costs**: as `moves abort`, on the source.
    """

    name = "moves complete"
    route = MoveRoute.COMPLETE


class ShowMoves(DocumentedCommand):
    """Shows all moves of buckets: what moved, which step is done, and what was measured.

    **When**: to see all moves, the latest first: the shards, the step, what stopped it, and how
    long writes waited. `--json` prints one object a line, with all figures: `copy_s`, `rows` (by
    the estimate), `switch` and `undo_switch`, each with `wait_ms` (for writers that had begun),
    `closed_ms` (in which writes of these accounts waited) and `changes` (handed over). **Costs**:
    one query.
    """

    name = "moves show"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        for move in list_moves():
            self.stdout.write(json.dumps(_facts(move)) if options["json"] else _line(move))


def _facts(move: Move) -> dict[str, Any]:
    return {
        "id": move.pk,
        "source": move.source,
        "target": move.target,
        "bucket_count": buckets_of(move).size,
        "route": move.route,
        "step": move.step,
        "is_finished": move.is_finished,
        "began_at": move.began_at.isoformat(),
        "stepped_at": move.stepped_at.isoformat(),
        "figures": move.figures,
    }


def _line(move: Move) -> str:
    state = "finished" if move.is_finished else "unfinished"
    switch = move.figures.get("switch", {})
    waited = f", writes waited {switch['closed_ms']:g} ms" if switch else ""
    stopped = "; stopped: " + move.figures["stopped_by"] if "stopped_by" in move.figures else ""
    return (
        f"{move}: {buckets_of(move).size} buckets, {move.route} {move.step or 'begun'} ({state}),"
        f" {move.stepped_at:%Y-%m-%d %H:%M:%S}{waited}{stopped}"
    )
