"""Increments: what a question, an account and the application of posts cost.

An index of many accounts; readers whose followees are anywhere in it (cold), and one reader
again and again (warm). `gather` is the same lookup with nothing around it, in the same run: what
is above that is ours.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from posts.ids import PostId
from timelines.increments.last_post_index import (
    LATEST_SHIFT,
    HeaderWord,
    LastPostIndex,
    StreamPosition,
    create_index,
    grow_index,
)
from timelines.increments.post_stream import PostColumns
from timelines.increments.posts_between import find_authors_between
from timelines.increments.queries import AccountIds, Increments
from timelines.increments.updater import Updater, apply_posts

ACCOUNTS = 100_000_000
FOLLOWEES = 500
READERS = 5_000
SLICE = 250
BATCH = 1_000
NOW = 10_000_000
SEED = 7
SINCE = PostId(NOW, 1, 0)  # no post is newer
UNTIL = PostId(NOW + 10, 1, 0)
# Two of 500 followees have posted since, after the end of the range.
FEW = PostId(NOW - NOW // 250, 1, 0), PostId(NOW - NOW // 250 + 10, 1, 0)


class NoThread(Updater):
    def start(self) -> None: ...


def measure() -> dict[str, Any]:
    """Medians and the quietest slice, in µs a question; on a shared machine the latter is ours."""
    dice = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "increments.index"
        index = _fill(path, dice)
        readers = [np.sort(dice.integers(1, ACCOUNTS, FOLLOWEES)) for _ in range(READERS)]
        asked = Increments(path, NoThread(path, _nothing), lambda: NOW)
        gathered = np.empty(FOLLOWEES, np.uint64)
        answers = {
            "gather": lambda ids: index.cells.take(ids, None, gathered, "clip"),
            "question": lambda ids: asked.authors_since(ids, SINCE),
            "between": lambda ids: find_authors_between(index, ids, SINCE, UNTIL),
            "between_few": lambda ids: find_authors_between(index, ids, *FEW),
        }
        figures: dict[str, Any] = {
            f"{name}_{kind}": _time(answer, turns)
            for kind, turns in (("cold", readers), ("warm", readers[:1] * READERS))
            for name, answer in answers.items()
        }
        figures["bytes_per_account"] = index.cells.itemsize
        figures["bytes_beside"] = path.stat().st_size - ACCOUNTS * index.cells.itemsize
        figures["apply_1000_posts"] = _time(lambda news: apply_posts(index, news), _batches(dice))
    return figures


def _nothing() -> None: ...


def _fill(path: Path, dice: np.random.Generator) -> LastPostIndex:
    """An index in which everybody posted at some time, caught up just now."""
    index = grow_index(path, create_index(path), ACCOUNTS - 1)
    index.cells[1:ACCOUNTS] = dice.integers(2, NOW * 2, ACCOUNTS - 1, np.uint64) << LATEST_SHIFT
    index.begin(StreamPosition(1, 1, 1), 1)
    index.header[HeaderWord.CAUGHT_UP] = NOW
    index.header[HeaderWord.APPLIED_MS] = NOW
    return index


def _batches(dice: np.random.Generator) -> list[PostColumns]:
    """Later and later posts of anybody."""
    return [
        PostColumns(
            dice.integers(1, ACCOUNTS, BATCH),
            np.full(BATCH, NOW + n),
            np.zeros(BATCH, np.int64),
            np.full(BATCH, NOW + n),
            np.zeros(BATCH, np.int64),
        )
        for n in range(4 * SLICE)
    ]


def _time(
    call: Callable[[Any], object], turns: Sequence[AccountIds | PostColumns]
) -> dict[str, float]:
    """µs a call by slices: the quietest one and the median."""
    slices = []
    for start in range(0, len(turns), SLICE):
        began = time.perf_counter()
        for turn in turns[start : start + SLICE]:
            call(turn)
        slices.append((time.perf_counter() - began) / SLICE * 1e6)
    slices.sort()
    return {"us_best": round(slices[0], 2), "us_p50": round(slices[len(slices) // 2], 2)}
