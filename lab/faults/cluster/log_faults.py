"""Faults that processes report in their logs: their own, and those of the harness."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from lab.faults.cluster.with_failpoints import HAPPENED

MARKS = ("Traceback (most recent call last)", "Unrecoverable error", "Segmentation fault")


class LogWatch:
    """Finds tracebacks that were written after the watch began."""

    def __init__(self, logs: Mapping[str, Path]) -> None:
        self._logs = logs
        self._begin = {name: _size(path) for name, path in logs.items()}

    def tracebacks(self) -> list[str]:
        """The process and the last line of each traceback, each once."""
        lines: dict[str, None] = {}
        for name, text in self._texts():
            lines |= dict.fromkeys(f"{name}: {line}" for line in _errors(text))
        return list(lines)

    def has_happened(self, failpoint: str) -> bool:
        """Whether a process did what it was armed to do there."""
        return any(f"{HAPPENED}{failpoint}\n" in text for _, text in self._texts())

    def _texts(self) -> Iterator[tuple[str, str]]:
        for name, path in self._logs.items():
            if path.exists():
                yield name, path.read_bytes()[self._begin[name] :].decode(errors="replace")


def _errors(text: str) -> list[str]:
    """After each mark: the first line that is not indented, which names the error."""
    lines = text.splitlines()
    starts = [n for n, line in enumerate(lines) if any(mark in line for mark in MARKS)]
    return [_name(lines[start : start + 200]) for start in starts]


def _name(lines: list[str]) -> str:
    ends = [line for line in lines[1:] if line and not line.startswith((" ", "\t"))]
    return (ends or lines)[0][:200]


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
