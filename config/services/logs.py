"""The log files of servers and other children, one file each."""

from pathlib import Path

_TAIL_BYTES = 2_000


def log_tail(log: Path) -> str:
    """The last lines of a log file, at most 2,000 bytes of them."""
    try:
        return log.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").strip()
    except FileNotFoundError:
        return ""


def rotate_logs(logs: Path) -> None:
    """Each run begins new log files and keeps those of the run before."""
    for log in logs.glob("*.log"):
        log.replace(log.with_suffix(".log.1"))
