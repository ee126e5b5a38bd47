"""What a block of code asks of the stores, counted: SQL per database, Redis round trips."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unittest.mock import patch

from django.db.backends.utils import CursorWrapper

from infra.caching.client import ClusterClient, SingleClient


class Statement(NamedTuple):
    alias: str
    sql: str
    params: Any


@dataclass
class Calls:
    """`statements`: in order, of every thread. BEGIN and COMMIT are not among them."""

    statements: list[Statement] = field(default_factory=list)
    round_trips: int = 0

    @property
    def sql(self) -> Counter[str]:
        """How many statements went to which database; missing: none."""
        return Counter(statement.alias for statement in self.statements)


@contextmanager
def count_calls() -> Iterator[Calls]:
    """`with count_calls() as calls:`. Counted on the classes, so threads of scatter count too."""
    calls = Calls()
    execute, single, cluster = CursorWrapper.execute, SingleClient.run, ClusterClient.run
    run_windowed = SingleClient.run_windowed

    def counted_execute(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
        calls.statements.append(Statement(self.db.alias, str(sql), params))
        return execute(self, sql, params)

    def counted_single(self: SingleClient, commands: Sequence[Any]) -> Any:
        calls.round_trips += 1
        return single(self, commands)

    def counted_windowed(self: SingleClient, commands: Iterable[Any]) -> Any:
        calls.round_trips += 1
        return run_windowed(self, commands)

    def counted_cluster(self: ClusterClient, commands: Sequence[Any]) -> Any:
        calls.round_trips += 1
        return cluster(self, commands)

    with (
        patch.object(CursorWrapper, "execute", counted_execute),
        patch.object(SingleClient, "run", counted_single),
        patch.object(SingleClient, "run_windowed", counted_windowed),
        patch.object(ClusterClient, "run", counted_cluster),
    ):
        yield calls
