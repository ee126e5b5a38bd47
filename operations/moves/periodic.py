"""The periodic task of moves: none of them may stay closed because its process died.

Opens a guard that a dead process left closed on both shards.

A switch closes the source for a while, then for good, flips the map, and opens the target. If its
process dies in between, writes of the accounts wait: they go on two seconds later at most, which is
less than a request waits.
"""

import structlog

from infra.jobs.errors import AlreadyRunning
from infra.jobs.models import JobRun
from infra.jobs.periodic import PeriodicTask
from infra.jobs.runs import recorded_run
from infra.sharding.placement import Placement
from operations.moves import guard, rows, switch
from operations.moves.models import Move
from operations.moves.route import claim
from operations.moves.types import MoveRoute

log = structlog.get_logger()


def finish_interrupted_switch(_: str) -> None:
    """Opens the shard that has the accounts now. The steps that are left wait for `moves resume`.

    It waits for a second at most for a process that works on moves, and then does nothing. Cost:
    one query; two more during a move.
    """
    move = rows.find_unfinished()
    if move is None or not _is_closed(move):
        return
    try:
        with recorded_run("moves", [""], "finish_interrupted_switch", dry_run=False) as run:
            move.refresh_from_db()
            if _is_closed(move):  # its process may have ended well while this one waited
                _open(move)
            run.finish(JobRun.State.DONE)
    except AlreadyRunning:
        return


def _is_closed(move: Move) -> bool:
    return all(guard.is_closed(move.pk, alias) for alias in (move.source, move.target))


def _open(move: Move) -> None:
    ref = rows.take_move(move)
    claim(ref, is_abort=False)
    is_undo = move.route == MoveRoute.UNDO
    ref = ref.back() if is_undo else ref
    epoch = move.undo_epoch if is_undo else move.epoch
    if epoch is None:
        guard.set_guard(ref, ref.source, guard.OPEN)
    else:
        switch.open_target(ref, epoch)
    log.warning("move.opened", move=move.pk, has_switched=epoch is not None)


PERIODIC_TASKS = (
    PeriodicTask(
        "finish_interrupted_switch",
        1,
        Placement.GLOBAL,
        "one query; two more during a move",
        (
            "Lets accounts write again if a [move](../how-to/move-buckets.md) was killed in the "
            "middle of its switch."
        ),
        finish_interrupted_switch,
    ),
)
