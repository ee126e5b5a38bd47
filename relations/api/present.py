"""Mastodon's Relationship entity, and what Tideline adds to it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from relations.types import Attribute, EdgeFlag, Relationship


def present_relationship(account_id: int, relationship: Relationship, now_ms: int) -> bytes:
    return orjson.dumps(_entity(account_id, relationship, now_ms))


def present_relationships(relationships: Mapping[int, Relationship], now_ms: int) -> bytes:
    return orjson.dumps([_entity(*one, now_ms) for one in relationships.items()])


def _entity(account_id: int, relationship: Relationship, now_ms: int) -> dict[str, Any]:
    following, followed_by = relationship.is_followed, relationship.follows_me
    flags = relationship.flags
    muting = relationship.is_muted_at(now_ms)
    return {
        "id": str(account_id),
        "following": following,
        "showing_reblogs": following and not flags & EdgeFlag.HIDES_REPOSTS,
        "notifying": bool(flags & EdgeFlag.NOTIFIES),
        "languages": None,
        "followed_by": followed_by,
        "blocking": relationship.mine is Attribute.BLACK,
        "blocked_by": relationship.theirs is Attribute.BLACK,
        "muting": muting,
        "muting_notifications": muting and relationship.mutes_notices,
        "muting_expires_at": _iso(relationship.muted_until_ms) if muting else None,
        "requested": False,
        "requested_by": False,
        "domain_blocking": False,
        "endorsed": False,
        "note": "",
        "quiet_following": relationship.mine is Attribute.WHISPER,
        "special": bool(flags & EdgeFlag.SPECIAL),
        "mutual": following and followed_by,
    }


def _iso(unix_ms: int) -> str | None:
    """As Mastodon writes times; None for a mute without end."""
    if not unix_ms:
        return None
    moment = datetime.fromtimestamp(unix_ms / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{unix_ms % 1000:03d}Z"
