"""What a person, or a log, sees of a running job: a line rewritten in place, or plain lines."""

import time
from typing import TextIO

PLAIN_EVERY_S = 2.0
TERMINAL_EVERY_S = 0.1


class Progress:
    """Counts rows and tells how fast they go, and how long the rest will take when it is known."""

    def __init__(self, stream: TextIO, name: str, total: int | None = None) -> None:
        self._stream = stream
        self._name = name
        self._total = total
        self._is_terminal = stream.isatty()
        self._started = self._shown = time.monotonic()
        self.done = 0

    def advance(self, count: int, note: str = "") -> None:
        """Shows the count when it has moved: a job on a schedule is mostly silent."""
        self.done += count
        if not count:
            return
        every_s = TERMINAL_EVERY_S if self._is_terminal else PLAIN_EVERY_S
        if time.monotonic() - self._shown >= every_s:
            self._show(note)

    def finish(self) -> None:
        self._show("done")
        if self._is_terminal:
            self._stream.write("\n")

    def _show(self, note: str) -> None:
        self._shown = time.monotonic()
        line = f"{self._name}: {self.done:,}{self._share()} {self._speed()} {note}".rstrip()
        self._stream.write(f"\r\x1b[K{line}" if self._is_terminal else f"{line}\n")
        self._stream.flush()

    def _share(self) -> str:
        return f" of {self._total:,}" if self._total else ""

    def _speed(self) -> str:
        rate = self.done / max(self._shown - self._started, 1e-3)
        if not self._total or not rate:
            return f"({rate:,.0f}/s)"
        return f"({rate:,.0f}/s, {max(self._total - self.done, 0) / rate:.0f} s left)"
