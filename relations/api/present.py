"""Mastodon's Relationship entity."""

from collections.abc import Iterable
from typing import Any

import orjson

from relations.queries.relationships import Relationship


def present_relationship(relationship: Relationship) -> bytes:
    return orjson.dumps(_entity(relationship))


def present_relationships(relationships: Iterable[Relationship]) -> bytes:
    return orjson.dumps([_entity(relationship) for relationship in relationships])


def _entity(relationship: Relationship) -> dict[str, Any]:
    return {
        "id": str(relationship.account_id),
        "following": relationship.following,
        "showing_reblogs": relationship.following,
        "notifying": False,
        "languages": None,
        "followed_by": relationship.followed_by,
        "blocking": False,
        "blocked_by": False,
        "muting": False,
        "muting_notifications": False,
        "requested": False,
        "requested_by": False,
        "domain_blocking": False,
        "endorsed": False,
        "note": "",
    }
