"""Loses rows as a restored shard does: on their own shard only, with counts that are right."""

import pytest
from django.conf import settings

from counters.jobs.drifting_counts import recount_counters
from infra.jobs import findings
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.ids import PostId


@pytest.fixture
def at_rest(monkeypatch):
    """No change is pending, so nothing is compared again and again."""
    monkeypatch.setattr(findings, "MOST_COMPARISONS", 1)


def lose_post(post_id: PostId) -> None:
    _execute(
        post_id.author_id,
        "DELETE FROM posts_post WHERE author_id = %s AND moment = %s",
        (post_id.author_id, post_id.moment),
    )


def lose_mark(owner_id: int, post_id: PostId) -> None:
    _execute(
        owner_id,
        "DELETE FROM posts_viewermark WHERE owner_id = %s AND target_author = %s"
        " AND target_moment = %s",
        (owner_id, post_id.author_id, post_id.moment),
    )


def lose_deletion(post_id: PostId) -> None:
    """The post is back, as it was."""
    _execute(
        post_id.author_id,
        "UPDATE posts_post SET deleted_at = NULL WHERE author_id = %s AND moment = %s",
        (post_id.author_id, post_id.moment),
    )


def lose_end_of_mark(owner_id: int, post_id: PostId) -> None:
    _execute(
        owner_id,
        "UPDATE posts_viewermark SET is_on = true, revision = revision - 1"
        " WHERE owner_id = %s AND target_author = %s AND target_moment = %s",
        (owner_id, post_id.author_id, post_id.moment),
    )


def _execute(owner_id: int, sql: str, values: tuple[int, ...]) -> None:
    assert execute(shard_of(owner_id), sql, values) == 1
    for _ in recount_counters(Work(settings.SHARD_ALIASES)):
        pass
