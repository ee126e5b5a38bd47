"""Pages of cached lists, cut out by Redis: exact at any place, and with members left out."""

from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Literal, NamedTuple

from infra.caching.client import Command, load_script
from infra.caching.lists import Item, ListCache, read_items, version_of

PAGE = load_script(Path(__file__).with_name("lua") / "list_page.lua")
Side = Literal["below", "above"]


class ListContinuation(IntEnum):
    """Where a list goes on beyond a page of it."""

    CACHED = 0
    END = 1
    SOURCE_ONLY = -1  # in the source only


class CachedListPage(NamedTuple):
    """`items`: away from the place it was asked for. `size`: how many members are cached in all."""

    version: int
    size: int
    rest: ListContinuation
    items: list[Item]


def page_command(
    cache: ListCache,
    owner: int,
    side: Side,
    place: Item | None,
    limit: int,
    without: ListCache | None,
) -> Command:
    """At most `limit` members right below or above a place; reply for `read_page`.

    `without`: another list of the same owner; its members are left out.
    """
    keys = [cache.key(owner)] if without is None else [cache.key(owner), without.key(owner)]
    score, member = place if place is not None else ("", "")
    return PAGE.on(keys, side, score, member, limit)


def read_page(reply: Sequence[bytes] | None) -> CachedListPage | None:
    """None: a list is not cached, or the one to be left out is of another version."""
    if reply is None:
        return None
    version = version_of(float(reply[0]))
    return CachedListPage(
        version, int(reply[1]), ListContinuation(int(reply[2])), read_items(reply[3:])
    )
