"""The audits and repairs on a world that has every kind of row."""

import pytest
from django.conf import settings
from django.core.management import load_command_class

from infra import clock
from infra.caching.purging import flush_redis
from infra.sharding.sql import execute
from notifications.types import NotificationKind
from tests.every_kind import assert_has_every_kind, make_every_kind
from tests.integration.jobs.lost_rows import at_rest
from tests.integration.jobs.outcomes import Outcome
from tests.reconciling import AUDITS, assert_audits_find_nothing
from tests.truth import assert_drained_truth, rows_of
from tests.world import drain_all
from timelines.management.commands.backfill_recent_posts import Command as Backfill

pytestmark = pytest.mark.slow

__all__ = ["at_rest"]

# What is derived from rows of other shards, without its times, and what repairs it.
DERIVED = {
    "relations_backwardedge": ("audit_edges", "follower_id, followee_id, attribute, flags"),
    "posts_response": ("audit_responses", "author_id, moment, kind, responder_id, reply_moment"),
    "conversations_directpost": ("audit_conversations", "owner_id, second, author_id"),
    "tags_taggedpost": ("audit_tags", "tag_id, second, author_id, sequence"),
    "timelines_recentpost": ("audit_recent_posts", "author_id, moment, shown_author, shown_moment"),
    "notifications_notification": (
        "audit_notifications",
        "owner_id, from_id, kind, post_moment, post_author",
    ),
}
# The changes alone know of these, and no row.
UNTRACED = (
    NotificationKind.STATUS,
    NotificationKind.POLL,
    NotificationKind.QUOTED_UPDATE,
    NotificationKind.MODERATION_WARNING,
)
IS_ON = {
    "posts_response": "is_on",
    "relations_backwardedge": "attribute <> 0",
    # Of mentions only replies have a row with their owner; a revoked quote has ended.
    "notifications_notification": f"""
        is_on AND kind NOT IN ({", ".join(str(int(kind)) for kind in UNTRACED)})
        AND (kind NOT IN ({NotificationKind.MENTION:d}, {NotificationKind.QUOTE:d}) OR EXISTS (
            SELECT FROM posts_response AS one WHERE one.author_id = owner_id AND one.is_on
            AND one.responder_id = from_id AND one.reply_moment = post_moment))""",
}


@pytest.fixture
def every_kind(world, tmp_path, monkeypatch):
    assert Outcome(Backfill()).code == 0
    it = make_every_kind(tmp_path)
    # Audits leave out what may be under way.
    later = clock.now_ms() + 3_600_000
    monkeypatch.setattr(clock, "now_ms", lambda: later)
    return it


def test_audits_know_every_kind(every_kind):
    assert_has_every_kind()
    assert_drained_truth()
    assert_audits_find_nothing()


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("table", DERIVED)
def test_what_is_derived_is_there_again(every_kind, table):
    command, columns = DERIVED[table]
    sql = f"SELECT {columns} FROM {table} WHERE {IS_ON.get(table, 'true')}"
    before = sorted(rows_of(sql))
    assert before
    for alias in settings.SHARD_ALIASES:
        execute(alias, f"DELETE FROM {table}")
    flush_redis()
    found = Outcome(load_command_class(AUDITS[command], command), "--repair")
    assert found.code == 0, found.out
    drain_all()
    assert sorted(rows_of(sql)) == before
