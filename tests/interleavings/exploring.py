"""Looks for a schedule that breaks a history, and shrinks it.

A history prepares the world and says what its actors do. The schedules are drawn by Hypothesis.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import hypothesis
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from infra.sharding.sql import fetch_one
from tests.interleavings.agreement import assert_acknowledged, assert_delivered
from tests.interleavings.scheduler import MOST_STEPS, Call, Run, Step, Threads, Turn
from tests.world import clean, drain_all

MOST_TURNS = 5
# One of so many schedules has several turns.
ONCE_OF = 4
# Of an actor that comes later: its first steps are those that matter.
STEPS_OF_JOINING = 4
# Hypothesis draws some schedules several times.
DRAWS_PER_EXAMPLE = 5
RESTART = "SELECT setval(pg_get_serial_sequence('accounts_user', 'id'), 1000)"
MOST_SHRINKS = 20
Schedule = tuple[Turn, ...]


class Play(NamedTuple):
    """The actors of a history, after its world is prepared. The last one is stopped most often.

    `people`: the accounts whose rows, caches and pages must agree. `refusals`: errors that an actor
    may get. `at_once`: what must hold before anything is drained. `check`: what must hold besides
    after that. `end`: is called when all is over. `joining`: how many actors may come later.
    """

    people: Sequence[int]
    actors: Mapping[str, Call]
    refusals: tuple[type[Exception], ...] = ()
    at_once: Callable[[], object] = lambda: None
    check: Callable[[], object] = lambda: None
    end: Callable[[], object] = lambda: None
    joining: int = 0


def draw_schedules(lengths: Sequence[int], raced: int) -> st.SearchStrategy[Schedule]:
    """Schedules of actors with so many steps.

    Most of them stop the actor with the number `raced` once, and let the others run to their ends.
    """
    once = st.builds(Turn, st.just(raced), st.integers(1, lengths[raced])).map(lambda one: (one,))
    turns = [
        st.builds(Turn, st.just(actor), st.integers(1, most) | st.just(MOST_STEPS))
        for actor, most in enumerate(lengths)
    ]
    several = st.lists(st.one_of(turns), min_size=1, max_size=MOST_TURNS).map(tuple)
    return st.integers(1, ONCE_OF).flatmap(lambda n: several if n == ONCE_OF else once)


History = Callable[[], Play]


class Failure(NamedTuple):
    """A schedule that breaks a history: its steps, and what does not hold."""

    turns: Schedule
    trace: Sequence[Step]
    error: BaseException

    def __str__(self) -> str:
        """One line for the steps that an actor makes without a break."""
        lines = [f"{type(self.error).__name__}: {str(self.error)[:800]}"]
        for actor, steps in groupby(self.trace, lambda step: step.actor):
            places = [step.place for step in steps]
            lines.append(f"  {actor} goes on from {places[0]}, {len(places)} steps to after")
            lines.append(f"      {places[-1]}")
        return "\n".join(lines)


class Explorer:
    """Tries schedules of one history. It remembers what came of each. `tries`: how many there were.

    `examples`: how many schedules are tried until one fails. `shrinks`: how many are tried to make
    it simpler.
    """

    def __init__(
        self, history: History, threads: Threads, examples: int, shrinks: int = MOST_SHRINKS
    ) -> None:
        self._history, self._threads = history, threads
        self._failures: dict[Schedule, Failure | None] = {}
        self._left, self._shrinks = examples, shrinks

    @property
    def tries(self) -> int:
        return len(self._failures)

    def find_failure(self) -> Failure | None:
        """The simplest failing schedule that was found."""
        draws = hypothesis.settings(max_examples=self._left * DRAWS_PER_EXAMPLE, database=None)
        schedules = draw_schedules(*self._measure())
        try:
            found = hypothesis.find(schedules, self._fails, settings=draws)
        except NoSuchExample:
            return None
        return self._failures[found]

    def _measure(self) -> tuple[list[int], int]:
        """The most steps that each actor makes when none is stopped, and the last actor's number.

        The last one has more steps if it runs first: nothing is loaded yet.
        """
        self._run(())  # the first run in a process has steps of its own
        play, run = self._run(())
        raced = len(play.actors) - 1
        _, other = self._run([Turn(raced, MOST_STEPS)])
        steps = Counter(step.actor for step in run.trace)
        steps |= Counter(step.actor for step in other.trace)
        lengths = [steps[name] for name in play.actors]
        return [*lengths, *[STEPS_OF_JOINING] * play.joining], raced

    def _run(self, turns: Sequence[Turn]) -> tuple[Play, Run]:
        """Only its steps matter."""
        clean()
        _repeat_ids()
        play = self._history()
        run = self._threads.run(play.actors, turns)
        play.end()
        return play, run

    def _fails(self, schedule: Schedule) -> bool:
        if schedule not in self._failures:
            if not self._left:
                return False
            has_failed = any(self._failures.values())
            self._left -= 1
            self._failures[schedule] = failure = self.run(schedule)
            if failure and not has_failed:
                self._left = self._shrinks
        return self._failures[schedule] is not None

    def run(self, schedule: Schedule) -> Failure | None:
        """One schedule in a clean world."""
        clean()
        _repeat_ids()
        play = self._history()
        run = self._threads.run(play.actors, schedule)
        try:
            _check(run, play)
        except Exception as error:
            return Failure(schedule, run.trace, error)
        finally:
            play.end()
        return None


def _check(run: Run, play: Play) -> None:
    for error in run.errors:
        if not isinstance(error, play.refusals):
            raise error
    play.at_once()
    if play.people:
        assert_acknowledged(play.people)
        drain_all()
        assert_delivered(play.people)
    play.check()


def _repeat_ids() -> None:
    """The accounts of each schedule have the same ids, so they are on the same shards and lanes."""
    fetch_one("default", RESTART)
