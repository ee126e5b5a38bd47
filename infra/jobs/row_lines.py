"""The lines that a job prints about single rows: not more than one reads."""

from collections.abc import Callable

MOST_LINES = 1_000
THE_REST = "… and more: the others are counted, not printed"


class LineWriter:
    """Passes on the first lines of a job. A lost table would print each of its rows."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._left = MOST_LINES

    def __call__(self, line: str) -> None:
        if self._left >= 0:
            self._write(line if self._left else THE_REST)
            self._left -= 1
