"""Cache of ordered lists: a Redis sorted set that contains its version and how far it reaches.

The list version marker is a member with a negative score, -(version + 1). Its name says how far the
list reaches: `whole` (all members are cached) or `newest` (older members are only in the source).
List and version expire together; an empty list is a marker alone. Members are text of fixed width,
so that Redis, Lua and Python sort equal scores alike. Loaders write under load tokens.
"""

from collections.abc import Sequence
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from infra.caching.client import Command
from infra.caching.decoding import decode
from infra.caching.keys import jittered_ms, key
from infra.caching.load_tokens import (
    END_LOAD,
    LoadTokens,
    begin_loads,
    token_key,
    write_loaded,
)
from infra.caching.questions import Question, Replies
from infra.caching.remembered import confirm_script_by
from infra.caching.scripts import load_script

_LUA = Path(__file__).with_name("lua")
WRITE = load_script(END_LOAD, _LUA / "list_write.lua")
CHANGE = load_script(_LUA / "list_change.lua")
PAGE = load_script(_LUA / "list_page.lua")
confirm_script_by(PAGE.sha, lambda call, reply: (call, reply))

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


class CachedList(NamedTuple):
    """A list as Redis has it, newest first."""

    version: int
    is_whole: bool
    items: list[Item]


class CachedListPage(NamedTuple):
    """`items`: nearest to the start position first. `size`: number of cached members."""

    version: int
    size: int
    continuation: ListContinuation
    items: list[Item]


class ListCache(NamedTuple):
    """One family of lists. Its questions and commands share round trips with others.

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
        """For `write_lists`. Call it before the source is read. One round trip."""
        return begin_loads(self.family, [self.loaded_key(owner)])

    def change_command(self, owner: int, change: ListChange) -> Command:
        """Updates a cached list in place. A list with another version than `before` is deleted."""
        return change_lists(owner, [(self, change)])

    def drop_command(self, owner: int) -> Command:
        """Deletes the list, and keeps loads in progress from writing it."""
        return ("DEL", self.key(owner), self.load_token_key(owner))

    def load_token_key(self, owner: int) -> bytes:
        return token_key(self.loaded_key(owner))

    def loaded_key(self, owner: int) -> bytes:
        """The key whose load token guards the list."""
        return key(self.loaded_with or self.family, owner)

    def ask_version_marker(self, owner: int) -> Question[ListVersionMarker | None]:
        """None: the list is not cached."""
        return Question([self._version_marker(owner)], _decode_version_marker)

    def ask_all(self, owner: int) -> Question[CachedList | None]:
        """All cached members. None: the list is not cached.

        The version marker is read before and after the members: a list that was dropped between
        would look like an empty one.
        """
        marker = self._version_marker(owner)
        members = ("ZREVRANGEBYSCORE", self.key(owner), "+inf", 0, "WITHSCORES")
        return Question([marker, members, marker], _decode_all)

    def ask_page(
        self,
        owner: int,
        side: Side,
        start: Item | None,
        limit: int,
        without: "ListCache | None" = None,
    ) -> Question[CachedListPage | None]:
        """At most `limit` members next below or above the position `start`.

        `without`: another list of the same owner, whose members are left out. None: one of the
        lists is not cached, or the two lists have different versions.
        """
        keys = [self.key(owner)] if without is None else [self.key(owner), without.key(owner)]
        score, member = start if start is not None else ("", "")
        command = PAGE.on(keys, side, score, member, limit)
        return Question([command], partial(_decode_page, self.family))

    def _version_marker(self, owner: int) -> Command:
        return ("ZRANGEBYSCORE", self.key(owner), "-inf", "(0", "WITHSCORES")


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


def change_lists(owner: int, changes: Sequence[tuple[ListCache, ListChange]]) -> Command:
    """`change_command` of lists of one load and one version, in one step."""
    cache, (before, after, *_) = changes[0]
    arguments: list[object] = [before, after]
    for changed, change in changes:
        flat = [part for item in change.added for part in item]
        arguments += [changed.max_items, len(change.removed), len(flat), *change.removed, *flat]
    keys = [cache.load_token_key(owner), *(changed.key(owner) for changed, _ in changes)]
    return CHANGE.on(keys, *arguments)


def write_lists(owner: int, tokens: LoadTokens, loaded: Sequence[LoadedList]) -> bool:
    """Writes lists of one load in one step, unless anything happened since `begin_load`.

    In one step, because a page may be made of two lists. False: not written. One round trip.
    """
    cache = loaded[0].cache
    token = tokens.of(cache.loaded_key(owner))
    if not token:
        return False
    keys = [cache.load_token_key(owner), *(each.cache.key(owner) for each in loaded)]
    arguments = [part for each in loaded for part in each.arguments()]
    return write_loaded(cache.family, [WRITE.on(keys, token, *arguments)])


def _decode_version_marker(replies: Replies) -> ListVersionMarker | None:
    return _read_version_marker(replies[0]) if replies else None


def _read_version_marker(reply: Sequence[bytes]) -> ListVersionMarker | None:
    if not reply or reply[0] not in (WHOLE, NEWEST):
        return None
    return ListVersionMarker(_version_of(float(reply[1])), reply[0] == WHOLE)


def _decode_all(replies: Replies) -> CachedList | None:
    before, members, after = replies or ((), (), ())
    marker = _read_version_marker(before)
    if marker is None or before != after:
        return None
    return CachedList(marker.version, marker.is_whole, _read_items(members))


def _decode_page(family: str, replies: Replies) -> CachedListPage | None:
    return decode(family, _read_page, replies[0]) if replies else None


def _read_page(reply: Sequence[bytes]) -> CachedListPage:
    version = _version_of(float(reply[0]))
    continuation = ListContinuation(int(reply[2]))
    return CachedListPage(version, int(reply[1]), continuation, _read_items(reply[3:]))


def _version_of(score: float) -> int:
    """The version that the score of a marker means."""
    return -int(score) - 1


def _read_items(reply: Sequence[bytes]) -> list[Item]:
    return [Item(int(float(reply[n + 1])), reply[n]) for n in range(0, len(reply), 2)]
