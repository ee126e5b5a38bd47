"""One contender. It answers calls, one JSON line each, until its input ends.

python -m lab.bench.peers.contenders sql|activity|stream
"""

import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "lab.bench.peers.contenders.settings"
django.setup()

from lab.bench.peers.contenders import tables  # noqa: E402 - set up before


def main() -> None:
    replies, sys.stdout = sys.stdout, sys.stderr
    contender = _Contender(sys.argv[1])
    for line in sys.stdin:
        call = json.loads(line)
        answer = getattr(contender, call["call"])(*call["with"])
        replies.write(json.dumps(answer) + "\n")
        replies.flush()


class _Contender:
    """The calls that all contenders share; other calls go to the contender itself."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._peer: Any = None

    def load_tables(self, path: str) -> None:
        tables.load(path)

    def prepare(self, readers: Sequence[int]) -> None:
        self._peer = _make(self._name)
        self._peer.prepare(readers)

    def time_reads(self, readers: Sequence[int], limit: int) -> list[float]:
        """µs of each reader's first page as JSON."""
        gc.collect()
        return [_time(lambda reader=reader: self.page(reader, limit)) for reader in readers]

    def page(self, reader: int, limit: int) -> str:
        return json.dumps(self._peer.home(reader, limit), default=str)

    def time_posts(self, how: str, author: int, texts: Sequence[str], second: float) -> list[float]:
        """µs until all followers would see a post; one post a second from `second` on."""
        post = getattr(self._peer, how)
        return [
            _time(lambda text=text, n=n: post(author, text, second + n))
            for n, text in enumerate(texts)
        ]

    def homes(self, readers: Sequence[int], limit: int) -> list[list[int]]:
        return [[post["id"] for post in self._peer.home(reader, limit)] for reader in readers]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._peer, name)


def _time(act: Any) -> float:
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1e6


def _make(name: str) -> Any:
    """Imports only this contender: the others would patch libraries and open connections."""
    if name == "sql":
        from lab.bench.peers.contenders.sql import SqlPull as Peer  # noqa: PLC0415
    elif name == "activity":
        from lab.bench.peers.contenders.activity import ActivityStream as Peer  # noqa: PLC0415
    else:
        from lab.bench.peers.contenders.stream import StreamFramework as Peer  # noqa: PLC0415
    return Peer()


if __name__ == "__main__":
    main()
