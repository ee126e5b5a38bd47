"""A process that keeps reading one reader's home page, to show what other load does to it.

python -m lab.bench.page_reader 4711     prints a line per page: its start and its duration
"""

import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import django

PAUSE_S = 0.002  # one reader of many, not a second flood
WARM_UP_PAGES = 200


class TimedPage(NamedTuple):
    """`at_s`: the start, on the clock that all processes of a machine share."""

    at_s: float
    ms: float


@contextmanager
def page_reader(account_id: int) -> Iterator[list[TimedPage]]:
    """Reads warm pages inside the block. The list is filled at its end."""
    command = [sys.executable, "-m", "lab.bench.page_reader", str(account_id)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    pages: list[TimedPage] = []
    try:
        process.stdout.readline()  # type: ignore[union-attr]  # waits for the warm-up
        yield pages
    finally:
        lines, _ = process.communicate()
    pages += [TimedPage(*map(float, line.split())) for line in lines.splitlines()]


def percentiles_ms(pages: Sequence[TimedPage]) -> dict[str, float]:
    hundredths = statistics.quantiles([page.ms for page in pages], n=100)
    return {"p50": round(hundredths[49], 2), "p99": round(hundredths[98], 2), "pages": len(pages)}


def _read(account_id: int) -> None:
    """Reads until standard input ends."""
    django.setup()
    from infra.api.pages import Window  # noqa: PLC0415 - of the child alone, once it is set up
    from timelines.home.page import home_page  # noqa: PLC0415

    for _ in range(WARM_UP_PAGES):
        home_page(account_id, Window(20))
    print(flush=True)
    pages: list[TimedPage] = []
    while not select.select([sys.stdin], [], [], PAUSE_S)[0]:
        began = time.monotonic()
        home_page(account_id, Window(20))
        pages.append(TimedPage(began, (time.monotonic() - began) * 1000))
    sys.stdout.writelines(f"{page.at_s} {page.ms}\n" for page in pages)


if __name__ == "__main__":
    _read(int(sys.argv[1]))
