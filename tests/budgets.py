"""What code asks of the stores, counted: SQL per database, Redis round trips. Its files too."""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple
from unittest.mock import patch

from django.db.backends.utils import CursorWrapper

from infra.background import BackgroundThread
from infra.caching.cluster import ClusterClient
from infra.caching.single import SingleClient

ROOT = f"{Path(__file__).resolve().parents[1]}/"


class Statement(NamedTuple):
    alias: str
    sql: str
    params: Any


@dataclass
class Calls:
    """`statements`: in order. BEGIN and COMMIT are not among them. `commands`: in the round trips,
    those of Lua scripts not counted."""

    statements: list[Statement] = field(default_factory=list)
    round_trips: int = 0
    commands: int = 0

    def add_trip(self, commands: Sequence[Any] = ()) -> None:
        if not _is_in_background():
            self.round_trips += 1
            self.commands += len(commands)

    @property
    def sql(self) -> Counter[str]:
        """How many statements went to which database; missing: none."""
        return Counter(statement.alias for statement in self.statements)


@contextmanager
def count_calls() -> Iterator[Calls]:
    """`with count_calls() as calls:`. Counted on the classes, so threads of scatter count too.
    Background threads work at their own times, and are not counted."""
    calls = Calls()
    execute, single, cluster = CursorWrapper.execute, SingleClient.run, ClusterClient.run
    run_windowed = SingleClient.run_windowed

    def counted_execute(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
        if not _is_in_background():
            calls.statements.append(Statement(self.db.alias, str(sql), params))
        return execute(self, sql, params)

    def counted_single(self: SingleClient, commands: Sequence[Any]) -> Any:
        calls.add_trip(commands)
        return single(self, commands)

    def counted_windowed(self: SingleClient, commands: Iterable[Any]) -> Any:
        calls.add_trip()
        return run_windowed(self, commands)

    def counted_cluster(self: ClusterClient, commands: Sequence[Any]) -> Any:
        calls.add_trip(commands)
        return cluster(self, commands)

    with (
        patch.object(CursorWrapper, "execute", counted_execute),
        patch.object(SingleClient, "run", counted_single),
        patch.object(SingleClient, "run_windowed", counted_windowed),
        patch.object(ClusterClient, "run", counted_cluster),
    ):
        yield calls


def _is_in_background() -> bool:
    names = {kind.name for kind in BackgroundThread.__subclasses__()}
    return threading.current_thread().name in names


def files_of(call: Callable[[], object]) -> set[str]:
    """The product's files whose functions run during the call, in this thread."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    inside = {path.removeprefix(ROOT) for path in found if path.startswith(ROOT)}
    return {path for path in inside if not path.startswith((".venv/", "tests/"))}
