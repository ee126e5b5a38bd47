"""Follows and features tags: one transaction on the account's shard each.

Home tags are derived from followed tags and from a choice of the account, so both append changes.
Nothing is derived from featured tags.
"""

from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account, lock_accounts
from accounts.texts.links import normalize_tag
from infra.changes.append import append_change, finish_interrupted
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from timelines.tags.changes import FollowedTagsChanged
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
# Parameters: owner; the choice, or null to leave it as it is, twice.
CHANGE_SETTINGS = """
INSERT INTO tags_tagsettings (owner_id, is_at_home, version)
VALUES (%s, COALESCE(%s, false), 1)
ON CONFLICT (owner_id) DO UPDATE SET version = tags_tagsettings.version + 1,
    is_at_home = COALESCE(%s, tags_tagsettings.is_at_home)
"""
FORGET_SETTINGS = "DELETE FROM tags_tagsettings WHERE owner_id = %s"


def add_own_tag(
    owner_id: int, kind: TagListKind, name: str, clock_ms: Callable[[], int] = now_ms
) -> OwnTag:
    """Puts a tag on a list of the account; a tag that is on it stays as it is.

    Raises: TooManyFollowedTags, TooManyFeaturedTags (exact under concurrency), AccountNotFound.
    Cost: four statements, and two more for a followed tag.
    """
    alias, tag_id = shard_of(owner_id), tag_id_of(normalize_tag(name))
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        if known := fetch_one(alias, FIND, (owner_id, kind, tag_id)):
            finish_interrupted(alias, owner_id)
            return OwnTag(*known)
        _check_count(alias, owner_id, kind)
        tag = OwnTag(tag_id, name, clock_ms())
        execute(alias, INSERT, (owner_id, kind, *tag))
        if kind is TagListKind.FOLLOWED:
            _change_settings(alias, owner_id)
    return tag


def remove_own_tag(owner_id: int, kind: TagListKind, tag_id: int) -> None:
    """Takes a tag off a list of the account. Safety: idempotent, also without an account. Cost: two
    statements, and two more for a followed tag."""
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_accounts(alias, [owner_id])
        if not execute(alias, DELETE, (owner_id, kind, tag_id)):
            finish_interrupted(alias, owner_id)
        elif kind is TagListKind.FOLLOWED:
            _change_settings(alias, owner_id)


def choose_at_home(owner_id: int, is_at_home: bool) -> None:
    """Says whether the account's home timeline shows posts with its followed tags.

    Raises: AccountNotFound. Safety: idempotent. Cost: three statements.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        _change_settings(alias, owner_id, is_at_home)


def forget_tag_settings(owner_id: int) -> None:
    """Deletes the row of an account that is purged. Safety: idempotent. Cost: one statement."""
    execute(shard_of(owner_id), FORGET_SETTINGS, (owner_id,))


def _change_settings(alias: str, owner_id: int, is_at_home: bool | None = None) -> None:
    execute(alias, CHANGE_SETTINGS, (owner_id, is_at_home, is_at_home))
    append_change(alias, owner_id, FollowedTagsChanged())


def _check_count(alias: str, owner_id: int, kind: TagListKind) -> None:
    row = fetch_one(alias, COUNT, (owner_id, kind))
    count = row[0] if row else 0
    if kind is TagListKind.FOLLOWED and count >= MOST_FOLLOWED:
        raise TooManyFollowedTags
    if kind is TagListKind.FEATURED and count >= MOST_FEATURED:
        raise TooManyFeaturedTags
