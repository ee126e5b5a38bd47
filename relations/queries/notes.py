"""Private notes about accounts, from the owner's shard."""

from collections.abc import Mapping

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.sql import NOTES_TABLE
from relations.types import Relationship

READ = f"""
SELECT target_id, text FROM {NOTES_TABLE} WHERE owner_id = %s AND target_id = ANY(%s::bigint[])
"""  # noqa: S608


def load_notes(owner_id: int, relationships: Mapping[int, Relationship]) -> Mapping[int, str]:
    """The owner's notes about these accounts. One query, none if no account has a note."""
    noted = [other for other, relationship in relationships.items() if relationship.has_note]
    return dict(fetch_all(shard_of(owner_id), READ, (owner_id, noted))) if noted else {}
