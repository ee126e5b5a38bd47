"""python -m bench.summary: tables in Markdown of the latest three runs of reads and mix."""

import functools
import sys
from collections.abc import Iterator, Mapping, Sequence
from operator import getitem
from typing import Any

from bench.history import HISTORY, read_lines

RUNS = 3
# The least share of the bare view's rate, and of its CPU.
GOALS = {
    "one_reader": 0.8,
    "home": 0.7,
    "home_with_20_writes_per_s": 0.6,
    "relationships": 0.8,
    "post": 0.8,
    "profile": 0.8,
    "author_page": 0.8,
    "news": 1.0,
}
READ_COLUMNS = ("rate_of_bare", "cpu_of_bare", "per_s", "cpu_us", "bare_cpu_us", "redis_us", "p99")
MIX_SHARES = ("p50", "p99", "p99.9")
MIX_PARTS = ("capacity", "bare_ms", "cpu_us", "per_request", "web_worker_mb")
Run = Mapping[str, Any]


def main() -> None:
    lines = read_lines(HISTORY)
    print("\n".join([*reads_table(_latest(lines, "reads")), "", *mix_table(_latest(lines, "mix"))]))


def _latest(lines: Sequence[Run], name: str) -> list[Run]:
    """Of the same size as the latest one."""
    runs = [line[name] for line in lines if name in line]
    return [run for run in runs if run.get("world") == runs[-1].get("world")][-RUNS:]


def reads_table(runs: Sequence[Run]) -> Iterator[str]:
    """A row for each kind of read, with the figures of all runs."""
    yield from _head("read", "goal", *READ_COLUMNS)
    for name, figures in runs[-1].items():
        if "rate_of_bare" in figures:
            cells = [_all(runs, name, column) for column in READ_COLUMNS]
            yield _row(name, str(GOALS.get(name, "")), *cells)


def mix_table(runs: Sequence[Run]) -> Iterator[str]:
    """A row for each kind of request at 60 % of the capacity, and one for each other figure."""
    yield from _head("mix", *(f"{share} ms" for share in MIX_SHARES))
    for kind in runs[-1]["latency_ms"]:
        yield _row(kind, *(_all(runs, "latency_ms", kind, share) for share in MIX_SHARES))
    yield ""
    yield from _head("part", "figure", "measured")
    for part in MIX_PARTS:
        for name in runs[-1][part]:
            yield _row(part, name, _all(runs, part, name))


def _all(runs: Sequence[Run], *names: str) -> str:
    return ", ".join(f"{functools.reduce(getitem, names, run):,}" for run in runs)


def _head(*titles: str) -> Iterator[str]:
    yield _row(*titles)
    yield _row(*(["---"] * len(titles)))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
