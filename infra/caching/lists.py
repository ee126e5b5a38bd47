"""Cache of ordered lists: a Redis sorted set that contains its version and how far it reaches.

The list version marker is a member with a negative score, -(version + 1). Its name says how far the
list reaches: `whole` (all members are cached) or `newest` (older members are only in the source).
List and version expire together; an empty list is a marker alone. Members are text of fixed width,
so that Redis, Lua and Python sort equal scores alike. Loaders write under load tokens.
"""

from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Literal, NamedTuple

from infra.caching.client import Command, load_script
from infra.caching.keys import key
from infra.caching.load_tokens import END_LOAD, LoadTokens, begin_loads, token_key
from infra.caching.values import jittered_ms

_LUA = Path(__file__).with_name("lua")
WRITE = load_script(END_LOAD, _LUA / "list_write.lua")
CHANGE = load_script(_LUA / "list_change.lua")
PAGE = load_script(_LUA / "list_page.lua")

WHOLE = b"whole"
NEWEST = b"newest"
Side = Literal["below", "above"]


class Item(NamedTuple):
    """A list member. Lists are sorted by (score, member), newest = highest first."""

    score: int
    member: bytes


class ListChange(NamedTuple):
    """What changed in a list from version `before` to version `after`."""

    before: int
    after: int
    added: Sequence[Item] = ()
    removed: Sequence[bytes] = ()


class ListContinuation(IntEnum):
    """Where a list continues after a page of it."""

    CACHED = 0
    END = 1
    SOURCE_ONLY = -1


class ListVersionMarker(NamedTuple):
    version: int
    is_whole: bool


class CachedListPage(NamedTuple):
    """`items`: nearest to the start position first. `size`: number of cached members."""

    version: int
    size: int
    rest: ListContinuation
    items: list[Item]


class ListCache(NamedTuple):
    """Redis commands for one family of lists. The caller combines them into round trips.

    `loaded_with`: the family whose load token also guards these lists, because one load reads both.
    Empty: the lists have tokens of their own.
    """

    family: str
    ttl_s: int
    max_items: int
    loaded_with: str = ""

    def key(self, owner: int) -> bytes:
        return key(self.family, owner)

    def begin_load(self, owner: int) -> LoadTokens:
        """For `write_command`. Call it before the source is read. One round trip."""
        return begin_loads(self.family, [self.loaded_key(owner)])

    def change_command(self, owner: int, change: ListChange) -> Command:
        """Updates a cached list in place. A list with another version than `before` is deleted."""
        flat = [part for item in change.added for part in item]
        head = (change.before, change.after, self.max_items, len(change.removed))
        keys = [self.key(owner), self.load_token_key(owner)]
        return CHANGE.on(keys, *head, *change.removed, *flat)

    def drop_command(self, owner: int) -> Command:
        """Deletes the list, and keeps loads in progress from writing it."""
        return ("DEL", self.key(owner), self.load_token_key(owner))

    def load_token_key(self, owner: int) -> bytes:
        return token_key(self.loaded_key(owner))

    def loaded_key(self, owner: int) -> bytes:
        """The key whose load token guards the list."""
        return key(self.loaded_with or self.family, owner)

    def version_marker_command(self, owner: int) -> Command:
        """Reply for `read_version_marker`."""
        return ("ZRANGEBYSCORE", self.key(owner), "-inf", "(0", "WITHSCORES")

    def newest_command(self, owner: int, max_score: int | None, limit: int) -> Command:
        """Items with at most this score, newest first; reply for `read_items`."""
        upper = "+inf" if max_score is None else max_score
        return (
            "ZREVRANGEBYSCORE", self.key(owner), upper, 0, "WITHSCORES", "LIMIT", 0, limit,
        )  # fmt: skip


class LoadedList(NamedTuple):
    """A list as its loader read it. `is_whole`: no older members are left in the source."""

    cache: ListCache
    version: int
    items: Sequence[Item]
    is_whole: bool

    def arguments(self) -> list[object]:
        flat = [part for item in self.items for part in item]
        marker = WHOLE if self.is_whole else NEWEST
        return [self.version, marker, jittered_ms(self.cache.ttl_s), len(flat), *flat]


def write_lists_commands(
    owner: int, tokens: LoadTokens, loaded: Sequence[LoadedList]
) -> list[Command]:
    """Writes lists of one load in one step, unless anything happened since `begin_load`.

    One command, none without a token. In one step, because a page may be made of two lists.
    """
    token = tokens.of(loaded[0].cache.loaded_key(owner))
    if not token:
        return []
    keys = [loaded[0].cache.load_token_key(owner), *(one.cache.key(owner) for one in loaded)]
    return [WRITE.on(keys, token, *(part for one in loaded for part in one.arguments()))]


def page_command(
    cache: ListCache,
    owner: int,
    side: Side,
    start: Item | None,
    limit: int,
    without: ListCache | None,
) -> Command:
    """At most `limit` members next below or above the position `start`; reply for `read_page`.

    `without`: another list of the same owner, whose members are left out.
    """
    keys = [cache.key(owner)] if without is None else [cache.key(owner), without.key(owner)]
    score, member = start if start is not None else ("", "")
    return PAGE.on(keys, side, score, member, limit)


def read_page(reply: Sequence[bytes] | None) -> CachedListPage | None:
    """None: one of the lists is not cached, or the two lists have different versions."""
    if reply is None:
        return None
    version = version_of(float(reply[0]))
    rest = ListContinuation(int(reply[2]))
    return CachedListPage(version, int(reply[1]), rest, read_items(reply[3:]))


def read_version_marker(reply: Sequence[bytes]) -> ListVersionMarker | None:
    """None: the list is not cached."""
    if not reply or reply[0] not in (WHOLE, NEWEST):
        return None
    return ListVersionMarker(version_of(float(reply[1])), reply[0] == WHOLE)


def version_of(score: float) -> int:
    """The version that the score of a marker means."""
    return -int(score) - 1


def read_items(reply: Sequence[bytes]) -> list[Item]:
    return [Item(int(float(reply[n + 1])), reply[n]) for n in range(0, len(reply), 2)]
