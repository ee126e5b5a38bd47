"""python -m lab.bench.summary: tables for the page about performance."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from lab.bench.history import HISTORY, read_lines

# The least share of the bare view's rate.
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
READ_COLUMNS = ("rate_of_bare", "cpu_of_bare", "cpu_us", "redis_us", "p99")
MIX_SHARES = ("p50", "p99", "p99.9")
Run = Mapping[str, Any]


def main() -> None:
    lines = read_lines(HISTORY)
    reads = [line for line in lines if "reads" in line]
    mixes = [line["mix"] for line in lines if "mix" in line]
    tables = reads_table(reads[-1]["reads"]), mix_table(mixes[-1]), history_table(reads)
    print("\n\n".join("\n".join(table) for table in tables))


def reads_table(run: Run) -> Iterator[str]:
    """A row for each kind of read."""
    yield from _head("read", "goal", *READ_COLUMNS)
    for name, figures in run.items():
        if "rate_of_bare" in figures:
            goal = str(GOALS.get(name, ""))
            yield _row(name, goal, *(f"{figures[column]:,}" for column in READ_COLUMNS))


def mix_table(run: Run) -> Iterator[str]:
    """A row for each kind of request at 60 % of the capacity, and one for the bare view."""
    yield from _head(
        f"mix, {run['steady']['per_s']} a second", *(f"{share} ms" for share in MIX_SHARES)
    )
    for kind, figures in [*run["latency_ms"].items(), ("bare view", run["bare_ms"])]:
        yield _row(kind, *(f"{figures[share]:,}" for share in MIX_SHARES))


def history_table(lines: Sequence[Run]) -> Iterator[str]:
    """A row for each commit: the shares of the bare view's rate, of the least and the best run."""
    yield from _head("date", "commit", *GOALS)
    for (date, commit), entries in groupby(lines, lambda line: (line["at"][:10], line["commit"])):
        runs = [line["reads"] for line in entries]
        yield _row(date, commit, *(_range(runs, name) for name in GOALS))


def _range(runs: Sequence[Run], name: str) -> str:
    rates = sorted(run[name]["rate_of_bare"] for run in runs)
    return f"{rates[0]}" if rates[0] == rates[-1] else f"{rates[0]}-{rates[-1]}"


def _head(*titles: str) -> Iterator[str]:
    yield _row(*titles)
    yield _row(*(["---"] * len(titles)))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
