"""python -m lab.bench.scaling: the mix on graphs of several sizes and several numbers of shards.

Each cell is a run of `python -m lab.bench --only mix` with a line in the history. The plot and the
table have the latest run of every cell. `--plot` only draws them again.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lab.bench.history import HISTORY, read_lines
from lab.faults.charts import LineChart, draw_charts

ROOT = Path(__file__).resolve().parents[2]
PLOT = ROOT / "docs/images/scaling.svg"
ACCOUNTS, SHARDS = (1_000, 30_000), (1, 4, 8)
SECONDS = 8.0
Run = Mapping[str, Any]


class ScalingFigure(NamedTuple):
    """A column of the table and a chart of the plot."""

    title: str
    of: Callable[[Run], float]


FIGURES = (
    ScalingFigure("capacity, requests/s", lambda mix: mix["capacity"]["per_s"]),
    ScalingFigure("CPU of all processes, µs a request", lambda mix: mix["cpu_us"]["all"]),
    ScalingFigure("CPU of the web, µs a request", lambda mix: mix["cpu_us"]["web"]),
    ScalingFigure("Redis, µs a request", lambda mix: mix["per_request"]["redis_us"]),
    ScalingFigure("Redis commands a request", lambda mix: mix["per_request"]["redis_commands"]),
    ScalingFigure("transactions a request", lambda mix: mix["per_request"]["transactions"]),
    ScalingFigure("p99 of the home page at 60 %, ms", lambda mix: mix["latency_ms"]["home"]["p99"]),
    ScalingFigure(
        "p99 of an author's page, ms", lambda mix: mix["latency_ms"]["author_page"]["p99"]
    ),
    ScalingFigure("memory of a web worker, MB", lambda mix: mix["web_worker_mb"]["last"]),
)


def main() -> None:
    options = _parse()
    if not options.plot:
        for accounts in options.accounts:
            for shards in options.shards:
                _run_cell(accounts, shards, options)
    cells = latest_cells(read_lines(options.history))
    options.plot_file.write_text(draw_charts([scaling_chart(figure, cells) for figure in FIGURES]))
    print("\n".join(scaling_table(cells)))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.scaling", description=__doc__)
    parser.add_argument("--accounts", type=int, nargs="+", default=ACCOUNTS)
    parser.add_argument("--shards", type=int, nargs="+", default=SHARDS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--plot", action="store_true", help="run nothing")
    parser.add_argument("--history", type=Path, default=HISTORY)
    parser.add_argument("--plot-file", type=Path, default=PLOT)
    return parser.parse_args()


def _run_cell(accounts: int, shards: int, options: argparse.Namespace) -> None:
    size = ["--accounts", str(accounts), "--shards", str(shards)]
    kept = ["--seconds", str(options.seconds), "--history", str(options.history.resolve())]
    command = [sys.executable, "-m", "lab.bench", "--only", "mix", *size, *kept]
    subprocess.run(command, cwd=ROOT, check=True)


def latest_cells(history: Iterable[Run]) -> dict[int, dict[int, Run]]:
    """The latest run of the mix by accounts and shards, both in ascending order."""
    cells: dict[int, dict[int, Run]] = {}
    for line in history:
        if mix := line.get("mix"):
            cells.setdefault(mix["world"]["accounts"], {})[mix["world"]["shards"]] = mix
    return {accounts: dict(sorted(cells[accounts].items())) for accounts in sorted(cells)}


def scaling_chart(figure: ScalingFigure, cells: Mapping[int, Mapping[int, Run]]) -> LineChart:
    """A line for each size of the graph, over the number of shards."""
    shards = sorted({number for runs in cells.values() for number in runs})
    return LineChart(
        title=figure.title,
        lines={
            f"{accounts:,} accounts": [
                [(shards.index(count), figure.of(runs[count])) for count in runs]
            ]
            for accounts, runs in cells.items()
        },
        end=max(len(shards) - 1, 1),
        labels=[(place, f"shards: {count}") for place, count in enumerate(shards)],
    )


def scaling_table(cells: Mapping[int, Mapping[int, Run]]) -> Sequence[str]:
    """A row for each cell, in Markdown."""
    titles = ["accounts", "shards", *(figure.title for figure in FIGURES)]
    rows = [
        [f"{accounts:,}", str(shards), *(f"{figure.of(run):,}" for figure in FIGURES)]
        for accounts, runs in cells.items()
        for shards, run in runs.items()
    ]
    return [f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *rows)]


if __name__ == "__main__":
    main()
