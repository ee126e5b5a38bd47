"""The steps of each route. A step that is done is recorded; an interrupted one is repeated."""

import time
from collections.abc import Callable, Iterator, Mapping

from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch
from infra.sharding.errors import NO_ANSWER
from operations.moves import copying, guard, rows, stream, switch
from operations.moves.compare import compare_all
from operations.moves.copying import await_copies
from operations.moves.errors import MoveRefused, MoveStuck
from operations.moves.models import Move
from operations.moves.rows import await_mark
from operations.moves.tables import estimate
from operations.moves.types import Lines, MoveRef, MoveRoute

# Steps after which the move waits for the operator: nothing runs, and both shards are equal.
WATCHED = "watched"
CAUGHT_UP_S = 60.0
Step = Callable[[MoveRef, Move], Lines]


def run_route(move: Move, ref: MoveRef) -> Iterator[Batch]:
    """Does the steps that are left on the route of the move.

    Raises: MoveStuck, MoveLost, and errors of the databases; run it again then.
    """
    route = MoveRoute(move.route)
    steps = ROUTES[route]
    names = list(steps)
    for name in names[names.index(move.step) + 1 if move.step else 0 :]:
        move.refresh_from_db()
        try:
            for line in steps[name](ref, move):
                yield Batch(line) if isinstance(line, int) else Batch(0, details=[line])
        except MoveStuck as error:
            rows.note_figures(ref, {"stopped_by": str(error)})
            raise
        failpoint("moves.step_done")
        is_last = route is not MoveRoute.MOVE and name == names[-1]
        rows.record_step(ref, route, name, is_last)
        failpoint("moves.step_recorded")
        yield Batch(0, details=[f"{name.replace('_', ' ')}: done"])


def claim(ref: MoveRef, is_abort: bool) -> None:
    """Other processes that still work on the move change nothing any more. Raises: MoveLost."""
    for alias in (ref.source, ref.target):
        try:
            guard.claim_guard(ref, alias)
        except NO_ANSWER:
            if not is_abort:
                raise


def leave_for(move: Move, ref: MoveRef, route: MoveRoute) -> None:
    """Begins to undo, abort or complete the move, or goes on with it. Raises: MoveRefused."""
    if move.route == route:
        return
    is_there = (
        rows.begin_route(ref, MoveRoute.MOVE, ["", *_BEFORE_SWITCH], route, moved=False)
        if route is MoveRoute.ABORT
        else rows.begin_route(ref, MoveRoute.MOVE, [WATCHED], route, moved=True)
    )
    if not is_there:
        raise MoveRefused(f"{move} is at {move.route} {move.step or 'begun'}: {_REMEDIES[route]}")
    move.refresh_from_db()


def _guard(ref: MoveRef, move: Move) -> Lines:
    yield from guard.add_guards(ref)
    yield from copying.delete_old_index(ref)


def _publish(ref: MoveRef, move: Move) -> Lines:
    yield from stream.publish(ref)
    stream.create_slot(ref)
    stream.subscribe(ref, copy=True)
    rows.note_figures(ref, {"copying_slots": stream.name_copying_slots(ref)})


def _copy(ref: MoveRef, move: Move) -> Lines:
    expected, began_s = estimate(ref.source, ref.buckets), time.monotonic()
    yield from await_copies(ref, expected, move.figures.get("copying_slots", ""))
    stream.end_copying(ref)
    took_s = time.monotonic() - began_s
    rows.note_figures(ref, {"copy_s": round(took_s, 1), "rows": expected.rows})
    yield f"copied about {expected.rows:,} rows in {took_s:,.1f} s"


def _compare(ref: MoveRef, move: Move) -> Lines:
    stream.read_stream(ref)
    lag_s = await_mark(ref, CAUGHT_UP_S)
    yield f"{ref.target} is {lag_s * 1e3:,.0f} ms behind"
    for item in compare_all(ref):
        if isinstance(item, str):
            yield item
        else:
            rows.note_figures(ref, {"busy": item})


def _prepare_way_back(ref: MoveRef, move: Move) -> Lines:
    stream.read_stream(ref)
    yield from stream.publish(ref.back())
    stream.create_slot(ref.back())
    await_mark(ref, CAUGHT_UP_S)


def _switch(ref: MoveRef, move: Move) -> Lines:
    if move.epoch is not None:
        switch.open_target(ref, move.epoch)
        return
    stream.read_stream(ref)
    figures = switch.switch(ref, MoveRoute.MOVE, move.figures.get("busy", {}), way_back=True)
    rows.note_figures(ref, {"switch": figures})
    yield _describe(ref, figures)


def _settle(ref: MoveRef, move: Move) -> Lines:
    yield from switch.settle(ref, move.epoch or 0)


def _stream_back(ref: MoveRef, move: Move) -> Lines:
    """The source gets what is written on the target, so that the move can be undone."""
    stream.stop_applying(ref)
    stream.stop_sending(ref)
    stream.subscribe(ref.back(), copy=False)
    yield f"{ref.source} follows {ref.target}: moves undo or moves complete ends this"


def _compare_back(ref: MoveRef, move: Move) -> Lines:
    yield from _compare(ref.back(), move)


def _switch_back(ref: MoveRef, move: Move) -> Lines:
    if move.undo_epoch is not None:
        switch.open_target(ref.back(), move.undo_epoch)
        return
    stream.read_stream(ref.back())
    figures = switch.switch(
        ref.back(), MoveRoute.UNDO, move.figures.get("busy", {}), way_back=False
    )
    rows.note_figures(ref, {"undo_switch": figures})
    yield _describe(ref.back(), figures)


def _settle_back(ref: MoveRef, move: Move) -> Lines:
    yield from switch.settle(ref.back(), move.undo_epoch or 0)


def _reopen(ref: MoveRef, move: Move) -> Lines:
    """First of all the source: it is open, and keeps no log for the target any more."""
    if guard.has_guard(ref, ref.source):
        guard.set_guard(ref, ref.source, guard.OPEN)
    stream.stop_sending(ref)
    stream.drop_copying_slots(ref.source, move.figures.get("copying_slots", ""))
    yield f"{ref.source} is open and keeps no log for the move"


def _stop_back(ref: MoveRef, move: Move) -> Lines:
    stream.stop_applying(ref.back())
    stream.stop_sending(ref.back())
    yield f"{ref.source} and {ref.target} do not follow each other any more"


def _stop_all(ref: MoveRef, move: Move) -> Lines:
    stream.stop_applying(ref)
    stream.stop_sending(ref)
    yield from _stop_back(ref, move)


def _delete_on_target(ref: MoveRef, move: Move) -> Lines:
    yield from copying.delete_copies(ref, ref.target)


def _delete_on_source(ref: MoveRef, move: Move) -> Lines:
    yield from copying.delete_copies(ref, ref.source)


def _unguard(ref: MoveRef, move: Move) -> Lines:
    for alias in (ref.source, ref.target):
        guard.drop_guards(ref, alias)
        yield f"{alias} has no guards any more"


def _describe(ref: MoveRef, figures: Mapping[str, float]) -> str:
    return (
        f"the accounts are on {ref.target}: writes waited {figures['closed_ms']:g} ms,"
        f" {figures['changes']:g} changes were handed over"
    )


ROUTES: Mapping[MoveRoute, Mapping[str, Step]] = {
    MoveRoute.MOVE: {
        "guarded": _guard,
        "published": _publish,
        "copied": _copy,
        "compared": _compare,
        "way_back_prepared": _prepare_way_back,
        "switched": _switch,
        "settled": _settle,
        WATCHED: _stream_back,
    },
    MoveRoute.UNDO: {
        "compared": _compare_back,
        "switched": _switch_back,
        "settled": _settle_back,
        "stopped": _stop_back,
        "deleted": _delete_on_target,
        "undone": _unguard,
    },
    MoveRoute.ABORT: {
        "reopened": _reopen,
        "stopped": _stop_all,
        "deleted": _delete_on_target,
        "aborted": _unguard,
    },
    MoveRoute.COMPLETE: {
        "stopped": _stop_back,
        "deleted": _delete_on_source,
        "completed": _unguard,
    },
}
_BEFORE_SWITCH = ["guarded", "published", "copied", "compared", "way_back_prepared"]
_REMEDIES = {
    MoveRoute.ABORT: "run moves undo",
    MoveRoute.UNDO: "run moves resume first, or moves abort",
    MoveRoute.COMPLETE: "run moves resume first",
    MoveRoute.MOVE: "",
}
