"""SQL statements and Redis round trips of each kind of read: of the first such read, and repeated.

In process, through Django's test client. The figures do not depend on the load of the machine.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import orjson
from django.conf import settings
from django.test import Client

from lab.bench.mix.data import MixData, load_mix_data
from lab.bench.mix.requests import HOME, MixRequests, ReaderPlace
from lab.bench.mix.shares import READS
from tests.budgets import Calls, count_calls

MOST_READERS = 40  # of each kind
# For readers that have read nothing yet.
NOWHERE = ReaderPlace("1", "1")


def measure(path: Path | None, accounts: int) -> dict[str, dict[str, float]]:
    """Means by kind. Each kind has readers of its own, who have read nothing before."""
    data = load_mix_data(path, accounts)
    reading = ReadCalls(data)
    size = {"accounts": len(data.graph.ids), "shards": len(settings.SHARD_ALIASES)}
    each = min(len(data.readers) // len(READS), MOST_READERS)
    groups = {kind: data.readers[number * each :][:each] for number, kind in enumerate(READS)}
    return {"world": size} | {kind: reading.count(kind, some) for kind, some in groups.items()}


class ReadCalls:
    """Reads as the API does, and counts."""

    def __init__(self, data: MixData) -> None:
        self._client = Client()
        self._data = data

    def count(self, kind: str, readers: Sequence[int]) -> dict[str, float]:
        requests = MixRequests(self._data, self._places(kind, readers))
        first, again = [], []
        for reader in readers:
            path = requests.path(kind, reader)
            first.append(self._count(path, reader))
            self._read(path, reader)  # from the second home page on a process remembers its reader
            again.append(self._count(path, reader))
        return {
            "first_sql": round(fmean(len(calls.statements) for calls in first), 1),
            "first_redis": round(fmean(calls.round_trips for calls in first), 1),
            "again_sql": round(fmean(len(calls.statements) for calls in again), 1),
            "again_redis": round(fmean(calls.round_trips for calls in again), 1),
        }

    def _places(self, kind: str, readers: Sequence[int]) -> Mapping[int, ReaderPlace]:
        """A next page follows a first page."""
        if kind != "next_page":
            return dict.fromkeys(readers, NOWHERE)
        pages = {reader: orjson.loads(self._read(HOME, reader)) for reader in readers}
        return {reader: ReaderPlace(page[-1]["id"], "1") for reader, page in pages.items()}

    def _count(self, path: str, reader: int) -> Calls:
        with count_calls() as calls:
            self._read(path, reader)
        return calls

    def _read(self, path: str, reader: int) -> bytes:
        token = self._data.tokens[reader]
        response = self._client.get(path, headers={"Authorization": f"Bearer {token}"})
        if response.status_code != 200:
            raise RuntimeError(f"{path}: {response.status_code}")
        return response.content
