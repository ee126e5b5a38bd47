"""Follows and features tags: one transaction on the account's shard each.

Nothing is derived from these lists, so the actions append no changes.
"""

from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.texts.links import normalize_tag
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from timelines.tags.errors import TooManyFeaturedTags, TooManyFollowedTags
from timelines.tags.types import OwnTag, TagListKind, tag_id_of

MOST_FOLLOWED, MOST_FEATURED = 200, 10
COUNT = "SELECT count(*) FROM tags_accounttag WHERE owner_id = %s AND kind = %s"
FIND = """
SELECT tag_id, name, since_ms FROM tags_accounttag WHERE owner_id = %s AND kind = %s AND tag_id = %s
"""
INSERT = """
INSERT INTO tags_accounttag (owner_id, kind, tag_id, name, since_ms) VALUES (%s, %s, %s, %s, %s)
"""
DELETE = "DELETE FROM tags_accounttag WHERE owner_id = %s AND kind = %s AND tag_id = %s"


def add_own_tag(
    owner_id: int, kind: TagListKind, name: str, clock_ms: Callable[[], int] = now_ms
) -> OwnTag:
    """Puts a tag on a list of the account; a tag that is on it stays as it is.

    Raises: TooManyFollowedTags, TooManyFeaturedTags (exact under concurrency), AccountNotFound.
    Cost: four statements.
    """
    alias, tag_id = shard_of(owner_id), tag_id_of(normalize_tag(name))
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        if known := fetch_one(alias, FIND, (owner_id, kind, tag_id)):
            return OwnTag(*known)
        _check_count(alias, owner_id, kind)
        tag = OwnTag(tag_id, name, clock_ms())
        execute(alias, INSERT, (owner_id, kind, *tag))
    return tag


def remove_own_tag(owner_id: int, kind: TagListKind, tag_id: int) -> None:
    """Takes a tag off a list of the account. Safety: idempotent. Cost: one statement."""
    execute(shard_of(owner_id), DELETE, (owner_id, kind, tag_id))


def _check_count(alias: str, owner_id: int, kind: TagListKind) -> None:
    row = fetch_one(alias, COUNT, (owner_id, kind))
    count = row[0] if row else 0
    if kind is TagListKind.FOLLOWED and count >= MOST_FOLLOWED:
        raise TooManyFollowedTags
    if kind is TagListKind.FEATURED and count >= MOST_FEATURED:
        raise TooManyFeaturedTags
