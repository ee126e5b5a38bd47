"""Pages of a list, by cursor: the next one is where the `Link` header says."""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypedDict, TypeVar, cast
from urllib.parse import parse_qsl, urlsplit

from tideline_client.calls import Call

T = TypeVar("T")
LINK = re.compile(r'<([^>]*)>\s*;\s*rel="?(next|prev)"?')
CURSORS = {"max_id", "min_id", "since_id"}
# A page around a status has neighbours that are not around it.
PLACES = CURSORS | {"around_id"}


class Cursor(TypedDict, total=False):
    """Where a page is, as arguments of the method that gave the page: `home(**page.next)`."""

    max_id: str
    min_id: str
    since_id: str


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page. `next`: the older one, or None at the end; `previous`: the newer one.

    `total`: how many the whole list has, where Tideline says it (mutual follows); else None.
    """

    items: Sequence[T]
    next: Cursor | None = None
    previous: Cursor | None = None
    total: int | None = None

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)


@dataclass(frozen=True, slots=True)
class PageReader(Generic[T]):
    """How pages are asked for. `name`: the field of the answer that has the items; "": none."""

    call: Call[Any]
    name: str = ""

    def read(self, answer: Any, headers: Mapping[str, str]) -> Page[T]:
        links = dict(reversed(link) for link in LINK.findall(headers.get("link", "")))
        return Page(
            getattr(answer, self.name) if self.name else answer,
            _cursor_of(links.get("next")),
            _cursor_of(links.get("prev")),
            getattr(answer, "count", None),
        )

    def at(self, cursor: Cursor) -> "PageReader[T]":
        kept = {name: text for name, text in self.call.query.items() if name not in PLACES}
        query: dict[str, str | list[str]] = {**kept, **cast(dict[str, str], cursor)}
        return replace(self, call=replace(self.call, query=query))


def _cursor_of(url: str | None) -> Cursor | None:
    """Only the cursors of a link are used: it cannot lead a token to another address."""
    if url is None:
        return None
    query = parse_qsl(urlsplit(url).query)
    return cast(Cursor, {name: text for name, text in query if name in CURSORS})


Ask = Callable[[Call[Any]], tuple[Any, Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class Pages(Generic[T]):
    """A list. Nothing is asked until it is read.

    `for item in pages` reads all pages, one after the other; `pages.first()` reads one.
    """

    _ask: Ask
    _reader: PageReader[T]

    def first(self) -> Page[T]:
        return self._read(self._reader)

    def by_page(self) -> Iterator[Page[T]]:
        reader: PageReader[T] | None = self._reader
        while reader is not None:
            page = self._read(reader)
            yield page
            reader = reader.at(page.next) if page.next else None

    def __iter__(self) -> Iterator[T]:
        for page in self.by_page():
            yield from page

    def _read(self, reader: PageReader[T]) -> Page[T]:
        return reader.read(*self._ask(reader.call))


AsyncAsk = Callable[[Call[Any]], Any]


@dataclass(frozen=True, slots=True)
class AsyncPages(Generic[T]):
    """The same for `async for`."""

    _ask: AsyncAsk
    _reader: PageReader[T]

    async def first(self) -> Page[T]:
        return await self._read(self._reader)

    async def by_page(self) -> AsyncIterator[Page[T]]:
        reader: PageReader[T] | None = self._reader
        while reader is not None:
            page = await self._read(reader)
            yield page
            reader = reader.at(page.next) if page.next else None

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.by_page():
            for item in page:
                yield item

    async def _read(self, reader: PageReader[T]) -> Page[T]:
        return reader.read(*await self._ask(reader.call))
