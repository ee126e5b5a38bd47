"""The Status entity, spliced from cached parts without parsing any."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import orjson

from infra.api.pages import Page
from posts.encode import REPOST_HEAD_BYTES
from posts.ids import PUBLIC_CHARACTERS
from posts.types import Kind

# About 1.5 kB each.
KEPT_STATUSES = 4_096
FAVOURITED, REPOSTED, BOOKMARKED = (1 << k for k in (Kind.FAVOURITE, Kind.REPOST, Kind.BOOKMARK))
NO_COUNTS = b'"replies_count":0,"reblogs_count":0,"favourites_count":0'
_ID = slice(len(b'{"id":"'), len(b'{"id":"') + PUBLIC_CHARACTERS)
_WORDS = (b"false", b"true")
# What the viewer did with a post, by the sum of the bits.
_FLAGS = {
    FAVOURITED * favourited + REPOSTED * reposted + BOOKMARKED * bookmarked: (
        b'"favourited":%b,"reblogged":%b,"muted":false,"bookmarked":%b'
        % (_WORDS[favourited], _WORDS[reposted], _WORDS[bookmarked])
    )
    for favourited, reposted, bookmarked in product((0, 1), repeat=3)
}


def present_counts(text: bytes) -> bytes:
    """Of `replies,reposts,favourites`."""
    return b'"replies_count":%b,"reblogs_count":%b,"favourites_count":%b' % (*text.split(b","),)


@lru_cache(KEPT_STATUSES)
def present_status(
    fragment: bytes, account: bytes, counts: bytes = NO_COUNTS, flags: int = 0
) -> bytes:
    """One Status entity, spliced from its parts. Many readers are shown the same ones."""
    return b'{%b,"account":%b,%b,%b}' % (fragment, account, counts, _FLAGS[flags])


def present_repost(
    fragment: bytes, account: bytes, original: bytes, counts: bytes = NO_COUNTS, flags: int = 0
) -> bytes:
    """A repost around the whole entity of what it shows; counts and flags are those of that."""
    tail = (account, original, counts, _FLAGS[flags])
    return b'{%b,"account":%b,"reblog":%b,%b,%b}' % (fragment[REPOST_HEAD_BYTES:], *tail)


def status_id_of(status: bytes) -> str:
    """Its id, which is also a cursor: what a Status entity begins with."""
    return status[_ID].decode()


def page_of_statuses(statuses: Sequence[bytes], has_older: bool) -> Page[bytes]:
    """A page of Status entities, newest first; its cursors are their ids."""
    if not statuses:
        return Page([], None, None)
    return Page(
        statuses, status_id_of(statuses[-1]) if has_older else None, status_id_of(statuses[0])
    )


def with_reposters(status: bytes, accounts: Sequence[bytes]) -> bytes:
    """A Status with the people the viewer follows who reposted what it shows, the latest first."""
    return b'%b,"reblogged_by":[%b]}' % (status[:-1], b",".join(accounts))


def with_source(status: bytes, text: str) -> bytes:
    """A Status with the text its author typed, as Mastodon returns a deleted one."""
    return b'%b,"text":%b}' % (status[:-1], orjson.dumps(text))
