"""Compares reads and writes of all sides in turn, then their memory, then the script."""

import json
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.bench.peers.data import PeerData, load_data
from lab.bench.peers.process import install, make_database, peer
from lab.bench.peers.product import Tideline
from lab.bench.peers.script import FeedScript, Side
from lab.bench.world import TEXT
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline

PEERS = ("sql", "activity", "stream")
# These push in a process that can be killed. The others pull at every read.
PUSHING = ("tideline", "stream")
BASE = "peers"
LIMIT = 20
READ_TURNS, READS_A_TURN = 5, 2
WRITE_TURNS, WRITES_A_TURN = 3, 2
Sides = Mapping[str, Side]


def measure() -> dict[str, Any]:
    """Ratios of medians to Tideline's. All sides take turns in the same minutes."""
    install()
    data = load_data()
    with _sides(data) as sides:
        parts: dict[str, Callable[[], dict[str, Any]]] = {
            "read_first_ms": lambda: _by_kind(_read_first, sides, data),
            "read_us": lambda: _by_kind(_read, sides, data),
            "write": lambda: _write(sides, data),
            "bytes_an_entry": lambda: _bytes(sides, data),
            "wrong_entries": lambda: {name: _play(name, sides[name], data) for name in sides},
        }
        return {name: _print(name, part()) for name, part in parts.items()}


def _print(name: str, figures: dict[str, Any]) -> dict[str, Any]:
    """Prints figures early, because the whole comparison takes long."""
    print(f"{datetime.now(UTC):%H:%M:%S}", name, json.dumps(figures), flush=True)
    return figures


def _by_kind(
    measured: Callable[[Sides, Sequence[int]], dict[str, Any]], sides: Sides, data: PeerData
) -> dict[str, Any]:
    return {name: measured(sides, readers) for name, readers in data.readers.items()}


@contextmanager
def _sides(data: PeerData) -> Iterator[Sides]:
    """Tideline and the contenders. Each contender has its own copy of the rows."""
    readers = [reader for some in data.readers.values() for reader in some]
    _load_tables(data)
    with ExitStack() as stack:
        sides: dict[str, Side] = {"tideline": Tideline(data.stage_crowd)}
        for name in PEERS:
            make_database(f"{BASE}_{name}", BASE)
            sides[name] = stack.enter_context(peer(name, f"{BASE}_{name}"))
            sides[name].call("prepare", readers)
        yield sides


def _load_tables(data: PeerData) -> None:
    make_database(BASE)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file, peer("sql", BASE) as first:
        text = {"text": TEXT, "people": data.people, "follows": data.follows, "posts": data.posts}
        json.dump(text, file)
        file.flush()
        first.call("load_tables", str(Path(file.name)))


def _read_first(sides: Sides, readers: Sequence[int]) -> dict[str, float]:
    """ms of each reader's first page, for which Tideline computes the timeline."""
    return {
        name: round(statistics.median(side.call("time_reads", readers, LIMIT)) / 1000, 1)
        for name, side in sides.items()
    }


def _read(sides: Sides, readers: Sequence[int]) -> dict[str, dict[str, float]]:
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(READ_TURNS):
        for name, side in sides.items():
            times[name] += side.call("time_reads", [*readers] * READS_A_TURN, LIMIT)
    ours = statistics.median(times["tideline"])
    return {
        name: {
            "p50": round(statistics.median(all_)),
            "p99": round(statistics.quantiles(all_, n=100)[98]),
            "ratio": round(statistics.median(all_) / ours, 2),
        }
        for name, all_ in times.items()
    }


def _write(sides: Sides, data: PeerData) -> dict[str, dict[str, float]]:
    """Time of a post until the timelines of all followers have it. A pull only writes the post."""
    _make_live(data.crowd)
    ways = {name: (side, "post") for name, side in sides.items()}
    ways["stream, batched"] = (sides["stream"], "post_batched")
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(WRITE_TURNS):
        for name, (side, how) in ways.items():
            second = data.posts[-1].second + 1 + turn * WRITES_A_TURN
            texts = [TEXT] * WRITES_A_TURN
            times[name] += side.call("time_posts", how, data.star, texts, second)
    return {name: _write_figures(name, all_, len(data.crowd)) for name, all_ in times.items()}


def _write_figures(name: str, times: Sequence[float], followers: int) -> dict[str, float]:
    us = statistics.median(times)
    figures = {"post_ms": round(us / 1000, 1)}
    if name.startswith(PUSHING):
        figures["deliveries_per_s"] = round(followers / us * 1e6)
    return figures


def _make_live(readers: Sequence[int]) -> None:
    """Makes readers live: Tideline pushes only to live readers, Stream-Framework to all."""
    for reader in readers:
        timeline_store().begin_build(reader, 1)
        timeline_store().finish_build(reader, 1, LiveTimeline.of([], 0, 0))


def _bytes(sides: Sides, data: PeerData) -> dict[str, float]:
    readers = data.readers["200"]
    return {name: round(sides[name].call("bytes_an_entry", readers), 1) for name in PUSHING}


def _play(name: str, side: Side, data: PeerData) -> dict[str, dict[str, int]]:
    return FeedScript(side, data.stage, data.stage_crowd, name in PUSHING).run()
