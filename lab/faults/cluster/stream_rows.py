"""What streams must show, from the rows, and tokens for them. Needs Django: for the backstage."""

from collections import defaultdict
from collections.abc import Collection
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from django.conf import settings

from accounts.actions.tokens import end_tokens, issue_token
from accounts.models import AccessToken
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from lab.faults.cluster.people import SCOPES
from notifications.models import Notification
from notifications.types import NotificationKind
from posts.ids import PostId
from posts.models import Post
from relations.models import IS_FOLLOW, ForwardEdge


def list_posts(order: dict[str, Any]) -> dict[str, list[str]]:
    """By reader: the live posts of the reader and of who they follow, `above` this moment."""
    live = [post_id for alias in settings.SHARD_ALIASES for post_id in _live(alias, order["above"])]
    expected: dict[str, list[str]] = defaultdict(list)
    for reader in order["readers"]:
        edges = ForwardEdge.objects.on(shard_of(reader)).filter(IS_FOLLOW, follower_id=reader)
        authors = {reader, *edges.values_list("followee_id", flat=True)}
        expected[str(reader)] = [p.public for p in live if p.author_id in authors]
    return expected


def list_mentions(order: dict[str, Any]) -> dict[str, list[int]]:
    """By reader: the ids of the mentions with posts `above` this moment."""
    return {
        str(reader): [
            *Notification.objects.on(shard_of(reader))
            .filter(owner_id=reader, kind=NotificationKind.MENTION, is_on=True)
            .filter(post_moment__gt=order["above"])
            .values_list("id", flat=True)
        ]
        for reader in order["readers"]
    }


def make_tokens(order: dict[str, Any]) -> list[str]:
    """`count` more tokens of the accounts, in turn."""
    now, people = datetime.now(UTC), order["accounts"]
    application_id = AccessToken.objects.filter(user_id=people[0]).values_list(
        "application_id", flat=True
    )[0]
    turns = (people[n % len(people)] for n in range(order["count"]))
    return [issue_token(person, application_id, SCOPES, now).token for person in turns]


def revoke_tokens(tokens: Collection[str]) -> int:
    """As the API revokes them. How many rows of them are left."""
    checksums = [sha256(token.encode()).hexdigest() for token in tokens]
    rows = AccessToken.objects.filter(token_checksum__in=checksums)
    end_tokens(rows)
    return rows.count()


def _live(alias: str, above: int) -> list[PostId]:
    table = Post._meta.db_table
    query = f"SELECT author_id, moment FROM {table} WHERE deleted_at IS NULL AND moment > %s"
    return [PostId.at(author_id, moment) for author_id, moment in fetch_all(alias, query, (above,))]
