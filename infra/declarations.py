"""What services declare by name, with words by language: the write, which holds the limit of a
table exactly, and what each process keeps of such a table, and the words for a reader.

    KINDS = DeclaredTable("accounts_objectkind", "kinds of objects", most=50)
    write_declaration(KINDS, "course", {"en": "course"})
    kinds = DeclaredMemory(list_kinds)
    kinds.find(lambda kind: kind.name == "course")
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

import orjson
from django.conf import settings
from django.db import transaction

from infra.api.errors import TidelineError
from infra.languages import ENGLISH
from infra.sharding.errors import NO_ANSWER
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute

IN_PROCESS_S = 30

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%(table)s, 0))"
DECLARE = """
INSERT INTO {table} (name, words{columns})
SELECT %(name)s::text, %(words)s::jsonb{values}
WHERE EXISTS (SELECT FROM {table} WHERE name = %(name)s::text)
    OR (SELECT count(*) FROM {table}) < %(most)s
ON CONFLICT (name) DO UPDATE SET words = excluded.words
"""
# One above the greatest, so a number is given once.
NEXT_NUMBER = """,
    (SELECT coalesce(max(number) + 1, {first}) FROM {table})"""


class TooManyDeclared(TidelineError):
    def __init__(self, most: int, things: str) -> None:
        super().__init__(f"Validation failed: At most {most} {things} can be declared")


class DeclaredTable(NamedTuple):
    """A table of the default database with `words` by a unique `name`.

    `things`: what its rows are, in the plural. `most`: rows. `first_number`: of its
    column `number`, if it has one; then no row is deleted, because other rows have its number.
    """

    name: str
    things: str
    most: int
    first_number: int | None = None


def write_declaration(table: DeclaredTable, name: str, words: Mapping[str, str]) -> None:
    """A new row, or other words of one. Other processes look up a name that they do not know.

    Raises: TooManyDeclared. Safety: one transaction, idempotent; callers at the same moment wait
    for each other, so the limit is exact. Cost: two statements.
    """
    values = {"table": table.name, "name": name, "most": table.most}
    values["words"] = orjson.dumps(words).decode()
    with transaction.atomic(using=GLOBAL_ALIAS):
        execute(GLOBAL_ALIAS, LOCK, values)
        if not execute(GLOBAL_ALIAS, _sql_of(table), values):
            raise TooManyDeclared(table.most, table.things)


def _sql_of(table: DeclaredTable) -> str:
    if table.first_number is None:
        return DECLARE.format(table=table.name, columns="", values="")
    number = NEXT_NUMBER.format(table=table.name, first=table.first_number)
    return DECLARE.format(table=table.name, columns=", number", values=number)


def choose_words(words: Mapping[str, str], language: str) -> str:
    """What a declared thing is called in a language; else in its short form (pt for pt-BR), in a
    variant (pt-BR for pt), in the language of the site, in English, or in any. `words`: not empty.
    """
    for wanted in (language, language.partition("-")[0], settings.SITE_LANGUAGE, ENGLISH):
        for code, text in words.items():
            if wanted in (code, code.partition("-")[0]):
                return text
    return next(iter(words.values()))


Row = TypeVar("Row")


class _KnownRows(NamedTuple, Generic[Row]):
    """`until`: by the monotonic clock."""

    rows: Sequence[Row]
    until: float


class DeclaredMemory(Generic[Row]):
    """What services declared, as this process read it last: at most IN_PROCESS_S old.

    If the default database is away, the last rows stay. `read`: all rows, one query.
    """

    def __init__(self, read: Callable[[], Sequence[Row]]) -> None:
        self._read = read
        self._known: _KnownRows[Row] | None = None

    def list_all(self) -> Sequence[Row]:
        """In the order of `read`. Raises: errors of NO_ANSWER, if the process has read none yet.

        Cost: nothing, or one query; the other threads use the last rows until then.
        """
        known = self._known
        if known is None:
            return self._refresh()
        if time.monotonic() < known.until:
            return known.rows
        self._keep(known.rows)  # so that no other thread reads at the same time
        try:
            return self._refresh()
        except NO_ANSWER:
            return known.rows

    def find(self, is_wanted: Callable[[Row], bool]) -> Row | None:
        """The first row that is wanted. None: there was none a moment ago.

        Raises: errors of NO_ANSWER, if the process does not know it. Cost: as `list_all`; one query
        if the process does not know it.
        """
        known = self._known
        has_it = known is not None and any(map(is_wanted, known.rows))
        rows = self.list_all() if has_it else self._refresh()
        return next(filter(is_wanted, rows), None)

    def forget(self) -> None:
        """The next request of this process reads them again."""
        self._known = None

    def _refresh(self) -> Sequence[Row]:
        rows = self._read()
        self._keep(rows)
        return rows

    def _keep(self, rows: Sequence[Row]) -> None:
        self._known = _KnownRows(rows, time.monotonic() + IN_PROCESS_S)
