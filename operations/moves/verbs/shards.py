"""Commands that add a shard, and spread the work over the shards."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from operations.moves.balance import (
    TOLERANCE,
    PlannedMove,
    ShardLoad,
    plan_moves,
    read_loads,
    weigh,
)
from operations.moves.check import find_faults, find_warnings
from operations.moves.errors import MoveRefused
from operations.moves.new_shard import add_shard, check_new_shard
from operations.moves.route import claim, leave_for, run_route
from operations.moves.rows import create_move, find_unfinished, take_move
from operations.moves.tables import estimate
from operations.moves.types import MoveRoute
from operations.moves.verbs.moves import MoveCommand

MEASURE_S = 10.0


class AddShard(MoveCommand):
    """Adds a shard while people read and write: checks and migrates its database, tells all
    processes, and fills its recent-posts index. It has no accounts until moves start.

    **When**: the site needs another shard. `shards add shard4` takes its URL from the file `shard4`
    in `SHARD_URLS_DIR`, and refuses a database that is in use, wrong or has another schema. Then it
    creates the tables and the identity, puts the shard on the list in the default database, and
    raises the number of the bucket map. It ends the idle sessions of workers, compensators and
    commands on all other shards, and waits until none is older than the list. They connect again,
    and read map and list. Then it fills the recent-posts index and sets its low-water mark.
    Sessions of web servers (`application_name` `tideline-web`) go on. They read the list with their
    next connection, at the latest by the first move. `--dry-run` only checks. [How to add a
    shard](../../how-to/add-a-shard.md).

    **Costs**: workers connect to each shard again; `backfill recent-posts` reads the newest days'
    posts of all accounts. **Stopping it**: at any place; run it again.
    """

    name = "shards add"
    flags = frozenset({JobFlag.DRY_RUN})

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        text = "the next shard, such as shard4; the file of this name in SHARD_URLS_DIR has its URL"
        parser.add_argument("name", help=text)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        alias = options["name"]
        is_listed = check_new_shard(alias)
        what = "is on the list already; what is left is done" if is_listed else "can be added"
        yield Batch(0, details=[f"{alias} {what}"])
        if not work.dry_run:
            yield from add_shard(alias)


class RebalanceShards(MoveCommand):
    """Plans moves of buckets so that all shards have about as many rows and writes, prints the
    plan, and moves. Each move but the last is completed before the next one begins.

    **When**: some shards have more to do than others, such as after [`shards add`](#shards-add). It
    measures the writes of `--seconds` (10), takes the rows of accounts and tags from the statistics
    of each shard, and counts the mean of the two parts as the shard's part of the work. The plan
    takes from the shard with the most what is above the mean, and gives it to the shard with the
    least, up to the mean, until no shard is more than 10 % away. It prints the plan, and with
    `--dry-run` no more.

    ```
    shard0: 4096 buckets, 9,204,100 rows, 212.4 writes/s, 25.2% of the work
    …
    move 1 of 4: 768 buckets from shard0 to shard4, 4.7% of the work, about 1,725,800 rows
    ```

    Then it moves as [`moves start`](#moves-start) does. Each move is completed before the next
    begins, so it cannot be undone. The last one waits for `moves complete` or `moves undo`. If it
    is stopped, let `moves resume` do the rest of that move, complete it, and run `moves rebalance`
    again: it makes a new plan.

    **Costs**: two queries of statistics a shard; the moves. It takes buckets of a shard for equal:
    an account that is very active may be in any of them.
    """

    name = "moves rebalance"
    flags = frozenset({JobFlag.DRY_RUN})

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        text = f"for how long to measure what is written ({MEASURE_S:g})"
        parser.add_argument("--seconds", type=float, default=MEASURE_S, help=text)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if unfinished := find_unfinished():
            raise MoveRefused(f"{unfinished} is not finished: both shards have its rows")
        loads = read_loads(self.pause, options["seconds"])
        moves = plan_moves(loads)
        yield Batch(0, details=[*_describe(loads), *_describe_plan(moves)])
        for number, planned in enumerate(moves):
            _refuse_faults(planned)
            if not work.dry_run:
                yield from self._move(planned, is_last=number == len(moves) - 1)

    def _move(self, planned: PlannedMove, is_last: bool) -> Iterator[Batch]:
        yield Batch(0, details=find_warnings(planned.source, planned.target))
        move = create_move(planned.source, planned.target, planned.buckets)
        yield from self.go_on(move)
        if not is_last:
            move.refresh_from_db()
            ref = take_move(move)
            claim(ref, is_abort=False)
            leave_for(move, ref, MoveRoute.COMPLETE)
            yield from run_route(move, ref)


def _refuse_faults(planned: PlannedMove) -> None:
    if faults := find_faults(planned.source, planned.target):
        raise MoveRefused("\n".join(faults))


def _describe(loads: Sequence[ShardLoad]) -> Iterator[str]:
    weights = weigh(loads)
    for load in loads:
        yield (
            f"{load.alias}: {len(load.buckets)} buckets, {load.rows:,} rows,"
            f" {load.writes_per_s:,.1f} writes/s, {weights[load.alias]:.1%} of the work"
        )


def _describe_plan(moves: Sequence[PlannedMove]) -> Iterator[str]:
    if not moves:
        yield f"nothing to do: no shard is more than {TOLERANCE:.0%} from the mean"
    for number, move in enumerate(moves, 1):
        rows = estimate(move.source, move.buckets).rows
        yield (
            f"move {number} of {len(moves)}: {move.buckets.size} buckets from {move.source} to"
            f" {move.target}, {move.part:.1%} of the work, about {rows:,} rows"
        )
