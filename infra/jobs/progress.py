"""The progress of a running job: a bar on a terminal, plain lines elsewhere."""

import shutil
import time
from typing import TextIO

PLAIN_EVERY_S = 2.0
TERMINAL_EVERY_S = 0.1
BAR_CHARACTERS = 20


class Progress:
    """Shows the rows done, the speed, and the time left when the total is known.

    `before`: rows of earlier runs. They count for the bar, not for the speed.
    """

    def __init__(
        self, stream: TextIO, name: str, total: int | None = None, before: int = 0
    ) -> None:
        self._stream = stream
        self._name = name
        self._total = total
        self._before = before
        self._is_terminal = stream.isatty()
        self._started = self._shown = time.monotonic()
        self.done = 0

    def advance(self, count: int, note: str = "") -> None:
        """Adds rows. Shows nothing while the count stays the same, or was shown a moment ago."""
        self.done += count
        if not count:
            return
        every_s = TERMINAL_EVERY_S if self._is_terminal else PLAIN_EVERY_S
        if time.monotonic() - self._shown >= every_s:
            self._show(note)

    def make_room(self) -> None:
        """Clears the bar before other output is written."""
        if self._is_terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def finish(self, word: str) -> None:
        """Writes the last line. `word` is how the run ended."""
        self._show(word)
        if self._is_terminal:
            self._stream.write("\n")

    def _show(self, note: str) -> None:
        self._shown = time.monotonic()
        done = self._before + self.done
        line = f"{self._bar(done)}{done:,}{self._share()} {self._speed(done)} {note}"
        line = f"{self._name}: {line}".rstrip()
        if self._is_terminal:
            # A line that wraps cannot be overwritten.
            line = f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}"
        self._stream.write(line if self._is_terminal else f"{line}\n")
        self._stream.flush()

    def _bar(self, done: int) -> str:
        if not self._total or not self._is_terminal:
            return ""
        share = min(done / self._total, 1.0)
        full = "#" * int(share * BAR_CHARACTERS)
        return f"[{full:-<{BAR_CHARACTERS}}] {share:4.0%} "

    def _share(self) -> str:
        return f" of {self._total:,}" if self._total else ""

    def _speed(self, done: int) -> str:
        rate = self.done / max(self._shown - self._started, 1e-3)
        if not self._total or not rate:
            return f"({rate:,.0f}/s)"
        return f"({rate:,.0f}/s, {duration(max(self._total - done, 0) / rate)} left)"


def duration(seconds: float) -> str:
    """A duration for people: `45 s`, `12 min`, `3 h 05 min`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02} min"
