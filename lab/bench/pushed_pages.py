"""The effect of pushes at full speed on the pages that another process reads.

In turn there are no pushes, pushes to the pages' Redis, and pushes to another Redis. The last ones
use as much CPU, but no page waits for that Redis. This separates waiting in Redis from a lack of
CPU.
Turns are short and figures are medians, so a disturbance of the machine spoils few turns.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from django.conf import settings

from lab.bench.page_reader import TimedPage, page_reader, percentiles_ms
from lab.bench.pusher import pusher
from lab.bench.world import make_reader
from tests.services import private_services

TURNS, SLICE_S = 24, 0.6

Slice = tuple[float, float]  # its beginning and its end
Figures = dict[str, float]


def measure_pages() -> dict[str, Any]:
    """Milliseconds a page, and ratios of p99. All are medians of the turns."""
    with private_services(shard_count=1) as others:
        elsewhere = others.environment()["REDIS_URL"]
        with pusher(settings.REDIS_URL) as push, pusher(elsewhere) as push_elsewhere:
            return _by_turns({"idle": time.sleep, "elsewhere": push_elsewhere, "pushed": push})


def _by_turns(works: Mapping[str, Callable[[float], object]]) -> dict[str, Any]:
    with page_reader(make_reader(followees=20, posts_each=5).account_id) as pages:
        turns = [
            {name: _slice(partial(work, SLICE_S)) for name, work in works.items()}
            for _ in range(TURNS)
        ]
    measured = [
        {name: percentiles_ms(_within(pages, part)) for name, part in turn.items()}
        for turn in turns
    ]
    return {name: _medians([turn[name] for turn in measured]) for name in works} | {
        "p99_of_idle": _ratio(measured, "pushed", "idle"),
        "p99_elsewhere_of_idle": _ratio(measured, "elsewhere", "idle"),
        "p99_of_elsewhere": _ratio(measured, "pushed", "elsewhere"),
    }


def _slice(work: Callable[[], object]) -> Slice:
    began = time.monotonic()
    work()
    return began, time.monotonic()


def _within(pages: Sequence[TimedPage], part: Slice) -> list[TimedPage]:
    return [page for page in pages if part[0] <= page.at_s < part[1]]


def _medians(turns: Sequence[Figures]) -> Figures:
    return {name: round(statistics.median(turn[name] for turn in turns), 2) for name in turns[0]}


def _ratio(turns: Sequence[Mapping[str, Figures]], ours: str, theirs: str) -> float:
    return round(statistics.median(turn[ours]["p99"] / turn[theirs]["p99"] for turn in turns), 2)
