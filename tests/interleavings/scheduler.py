"""Runs actors one at a time, in the order of a schedule.

A schedule is a list of turns: an actor, and for how many steps it runs. A step goes from one yield
point to the next. After the last turn each actor runs to its end, the first one first. So an empty
schedule runs the actors one after another, and Hypothesis shrinks a schedule towards that.
"""

import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import NamedTuple

from django.db import connections

from tests.interleavings.actors import Actor
from tests.interleavings.yield_points import watch_statements
from tests.waiting import PATIENCE_S

Call = Callable[[], object]

# An actor that has not stopped after this time perhaps waits for a lock.
LOOK_AFTER_S = 0.01
# No actor works for so long without a yield point, on any machine.
STUCK_S = 60.0
MOST_STEPS = 5_000


class Turn(NamedTuple):
    """The number of an actor, and for how many steps it runs. It has no turn while it waits."""

    actor: int
    steps: int


class Step(NamedTuple):
    actor: str
    place: str


class Run(NamedTuple):
    """The steps of a schedule, and what the actors raised."""

    trace: list[Step]
    errors: list[Exception]


class Stuck(AssertionError):
    """The actors wait for one another, or go on without end."""


class Scheduler:
    """The actors of one schedule; some may come later. `trace`: the steps that were made."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self.actors: list[Actor] = []
        self._order: list[Actor] = []
        self.trace: list[Step] = []

    def add(self, actor: Actor) -> None:
        self.actors.append(actor)
        self._order.append(actor)

    def run(self) -> None:
        """Runs all actors to their ends. Raises: Stuck."""
        for turn in self._turns:
            ready = [one for one in self._list_ready() if one is self._find(turn.actor)]
            if ready:
                self._run_one(ready[0], turn.steps)
        while ready := self._list_ready():
            self._run_one(ready[0], MOST_STEPS)

    def _run_one(self, actor: Actor, most_steps: int) -> None:
        """Until it has made these steps, waits for another one, or ends."""
        for _ in range(most_steps):
            self._step(actor)
            if actor.has_ended or actor.is_blocked:
                return
            if actor.gives_way:
                self._move_to_end(actor)
                return

    def _step(self, actor: Actor) -> None:
        if len(self.trace) == MOST_STEPS:
            raise Stuck(f"{MOST_STEPS} steps, the last ones {self.trace[-20:]}")
        self.trace.append(Step(actor.name, actor.place))
        actor.let_go()
        self._await(actor)
        for other in self.actors:
            if other.is_blocked and other is not actor:
                self._await(other)

    def _await(self, actor: Actor) -> None:
        """Until it has stopped, or is known to wait for a lock."""
        for _ in range(int(STUCK_S / LOOK_AFTER_S)):
            if actor.has_stopped(0 if actor.is_blocked else LOOK_AFTER_S):
                actor.is_blocked = False
                return
            actor.is_blocked = actor.waits_for_lock()
            if actor.is_blocked:
                return
        raise Stuck(f"{actor.name} after {actor.place}\n{''.join(_list_stacks())}")

    def _list_ready(self) -> list[Actor]:
        """Those that can run. If all wait for locks, PostgreSQL ends the deadlock with an error."""
        alive = [one for one in self._order if not one.has_ended]
        for _ in range(int(STUCK_S / LOOK_AFTER_S)):
            ready = [one for one in alive if not one.is_blocked and not one.has_ended]
            if ready or all(one.has_ended for one in alive):
                return ready
            for one in alive:
                one.is_blocked = not one.has_stopped(LOOK_AFTER_S)
        raise Stuck(f"all wait: {[(one.name, one.place) for one in alive]}")

    def _find(self, number: int) -> Actor | None:
        """None: it has not come yet."""
        return self.actors[number] if number < len(self.actors) else None

    def _move_to_end(self, actor: Actor) -> None:
        """What it waits for is done by an actor that runs after it."""
        self._order.remove(actor)
        self._order.append(actor)


class Threads:
    """Threads for actors. They keep their connections from one schedule to the next."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool = ThreadPoolExecutor(count, "actor", watch_statements)

    def run(self, calls: Mapping[str, Call], turns: Sequence[Turn]) -> Run:
        """Runs the calls by this schedule. Raises: Stuck."""
        scheduler, running = Scheduler(turns), list[Future[None]]()

        def add(actor: Actor) -> None:
            scheduler.add(actor)
            running.append(self._pool.submit(actor.run))

        for name, call in calls.items():
            add(Actor(name, call, add))
        try:
            scheduler.run()
        finally:
            for actor in scheduler.actors:
                actor.abandon()
            wait(running)
        return Run(scheduler.trace, [one.error for one in scheduler.actors if one.error])

    def close(self) -> None:
        """Ends the threads and their connections."""
        all_closed = threading.Barrier(self._count)

        def close_connections() -> None:
            connections.close_all()
            all_closed.wait(PATIENCE_S)

        wait([self._pool.submit(close_connections) for _ in range(self._count)])
        self._pool.shutdown()


def _list_stacks() -> Iterator[str]:
    for frame in sys._current_frames().values():
        yield "".join(traceback.format_stack(frame)[-6:])
