"""Shards asked for a page: those that are down are said to be, and none is waited for long."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from threading import BoundedSemaphore
from typing import Any, NamedTuple

from infra.sharding.probe import ProbeTimeout, error_line, probe_all

PATIENCE_S = 2.5
# Threads that hang on a database which hangs; whoever comes then is told so at once.
MOST_WAITING = 4
_waiting: defaultdict[str, BoundedSemaphore] = defaultdict(partial(BoundedSemaphore, MOST_WAITING))


class Answer(NamedTuple):
    """What a database said, or in `problem` why it said nothing."""

    value: Any = None
    problem: str = ""


def ask_each(calls: Mapping[str, Callable[[], Any]]) -> dict[str, Answer]:
    """One call a name, the names being databases or what stands for them. Never raises.

    Cost: PATIENCE_S at most; a thread and connections of its own for each.
    """
    bounded = {name: partial(_ask, name, call) for name, call in calls.items()}
    answers = probe_all(bounded, PATIENCE_S)
    return {name: _answer(name, answer) for name, answer in answers.items()}


def _ask(name: str, call: Callable[[], Any]) -> Any:
    if not _waiting[name].acquire(blocking=False):
        raise ProbeTimeout("others wait for it already")
    try:
        return call()
    finally:
        _waiting[name].release()


def _answer(name: str, answer: Any) -> Answer:
    if isinstance(answer, Exception):
        return Answer(problem=f"{name} does not answer: {error_line(answer)}")
    return Answer(answer)
