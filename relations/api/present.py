"""Mastodon's Relationship, MutedAccount and FamiliarFollowers, and what Tideline adds."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache

import orjson

from relations.types import CACHED_RELATIONSHIPS, Attribute, EdgeFlag, Relationship

NO_NOTES: Mapping[int, str] = {}
# No other field has text.
_NO_NOTE = b'"note":""'


def present_relationship(
    account_id: int, relationship: Relationship, now_ms: int, notes: Mapping[int, str] = NO_NOTES
) -> bytes:
    return b"".join(_present_parts({account_id: relationship}, now_ms, notes))


def present_relationships(
    relationships: Mapping[int, Relationship], now_ms: int, notes: Mapping[int, str] = NO_NOTES
) -> list[bytes]:
    """A list of entities, in the order of the mapping, as parts that follow each other. Equal
    relationships have one part in common, so that many lists take little memory.

    `notes`: the viewer's, by account.
    """
    return [b"[", *_present_parts(relationships, now_ms, notes), b"]"]


def _present_parts(
    relationships: Mapping[int, Relationship], now_ms: int, notes: Mapping[int, str]
) -> Iterator[bytes]:
    begin = b'{"id":"%d",'
    for other, related in relationships.items():
        yield begin % other
        fields = _encode_fields(related, related.is_muted and related.is_muted_at(now_ms))
        note = notes.get(other)
        yield fields.replace(_NO_NOTE, b'"note":%b' % orjson.dumps(note)) if note else fields
        begin = b',{"id":"%d",'


def present_muted(account: bytes, until_ms: int) -> bytes:
    """The JSON of an account, and when its mute ends; `until_ms` 0: never."""
    ends = orjson.dumps(_iso(until_ms))
    return b'%b,"mute_expires_at":%b}' % (account[:-1], ends)


def present_familiar(target_id: int, accounts: Iterable[bytes]) -> bytes:
    return b'{"id":"%d","accounts":[%b]}' % (target_id, b",".join(accounts))


@lru_cache(CACHED_RELATIONSHIPS)
def _encode_fields(relationship: Relationship, is_muting: bool) -> bytes:
    """The JSON after the id, to its end. Cached: most relationships are one of a few values."""
    following, followed_by = relationship.is_followed, relationship.follows_me
    is_requested = relationship.is_requested
    flags = relationship.flags
    fields = {
        "following": following,
        "showing_reblogs": (following or is_requested) and not flags & EdgeFlag.HIDES_REPOSTS,
        "notifying": bool(flags & EdgeFlag.NOTIFIES),
        "languages": list(relationship.languages) or None,
        "followed_by": followed_by,
        "blocking": relationship.mine is Attribute.BLACK,
        "blocked_by": relationship.theirs is Attribute.BLACK,
        "muting": is_muting,
        "muting_notifications": is_muting and relationship.mutes_notices,
        "muting_expires_at": _iso(relationship.muted_until_ms) if is_muting else None,
        "requested": is_requested,
        "requested_by": relationship.asks_me,
        "domain_blocking": False,
        "endorsed": bool(flags & EdgeFlag.ENDORSED),
        "note": "",
        "quiet_following": relationship.mine is Attribute.WHISPER,
        "special": bool(flags & EdgeFlag.SPECIAL),
        "mutual": following and followed_by,
    }
    return orjson.dumps(fields)[1:]


def _iso(unix_ms: int) -> str | None:
    """In Mastodon's format; None for a mute without end."""
    if not unix_ms:
        return None
    moment = datetime.fromtimestamp(unix_ms / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{unix_ms % 1000:03d}Z"
