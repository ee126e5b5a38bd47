"""Rows that another program wrote by SQL: after `changes announce` all that is derived follows."""

import io
import json
import sys
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.core.management.base import CommandError

from counters.models import Counter
from infra.changes.models import Change
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from integrations.queries.events import read_events, site_position_now
from operations.verbs.rows import AnnounceRows
from posts.models import Post
from relations.actions.follow import follow
from relations.models import ForwardEdge
from relations.types import Attribute
from tests.api_process import ApiProcess
from tests.callers import token_of
from tests.delivered import deliver_all
from tests.faults import dying_job
from tests.integration.jobs.outcomes import Outcome
from tests.truth import assert_drained_truth
from tests.waiting import until
from tests.world import make_account, make_accounts, publish

pytestmark = pytest.mark.slow


@pytest.fixture
def other(world):
    with ApiProcess() as process:
        yield process


def read(process, account_id, path):
    status, text = process.do("GET", token_of(account_id), path, None)
    assert status == 200, text
    return json.loads(text)


def announce(*words, lines=None, monkeypatch=None):
    if lines is not None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        words = (*words, "--ids", "-")
    return Outcome(AnnounceRows(), *map(str, words))


def changes():
    return sum(Change.objects.on(alias).count() for alias in settings.SHARD_ALIASES)


def test_a_profile_that_was_changed_by_sql_is_shown_at_once(other):
    ann, ben = make_accounts(2)
    path = f"/api/v1/accounts/{ben}"
    read(other, ann, path)
    rename = "UPDATE accounts_account SET display_name = 'New' WHERE id = %s"
    execute(shard_of(ben), rename, (ben,))
    assert read(other, ann, path)["display_name"] != "New", "it is cached"
    outcome = announce("accounts", "--account", ben)
    assert outcome.code == 0 and f"account {ben}" in outcome.out
    assert read(other, ann, path)["display_name"] == "New"


def test_a_post_that_was_changed_by_sql_is_shown_at_once(other, monkeypatch):
    ann, ben = make_accounts(2)
    follow(ann, ben)
    post = publish(ben, "old")
    deliver_all()
    paths = "/api/v1/timelines/home", f"/api/v1/accounts/{ben}/statuses"
    assert ["old" in read(other, ann, path)[0]["content"] for path in paths] == [True] * 2
    edit = "UPDATE posts_post SET text = 'new', edited_at = now() WHERE author_id = %s"
    execute(shard_of(ben), edit, (ben,))
    outcome = announce("posts", lines=[post.public], monkeypatch=monkeypatch)
    assert outcome.code == 0
    assert ["new" in read(other, ann, path)[0]["content"] for path in paths] == [True] * 2


def test_a_post_that_was_inserted_by_sql_comes_into_timelines_and_counts(other):
    ann, ben = make_accounts(2)
    follow(ann, ben)
    first = publish(ben, "first")
    deliver_all()
    assert len(read(other, ann, "/api/v1/timelines/home")) == 1
    copy = """
    INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text)
    SELECT author_id, moment + 1, 'second', false, '' FROM posts_post WHERE author_id = %s
    """
    execute(shard_of(ben), copy, (ben,))
    since = datetime.now(UTC) - timedelta(minutes=5)
    assert announce("posts", "--since", since.isoformat()).code == 0
    deliver_all()
    texts = [status["content"] for status in read(other, ann, "/api/v1/timelines/home")]
    assert len(texts) == 2 and "second" in texts[0]
    assert read(other, ann, f"/api/v1/accounts/{ben}")["statuses_count"] == 2
    assert first.moment + 1 in Post.objects.of(ben).values_list("moment", flat=True)
    assert_drained_truth()


@pytest.mark.parametrize("statement", [
    "UPDATE posts_post SET text = '', deleted_at = now() WHERE author_id = %s",
    "DELETE FROM posts_post WHERE author_id = %s",
])  # fmt: skip
def test_a_post_that_was_deleted_by_sql_is_gone(other, monkeypatch, statement):
    ann, ben = make_accounts(2)
    follow(ann, ben)
    post = publish(ben)
    deliver_all()
    assert len(read(other, ann, "/api/v1/timelines/home")) == 1
    execute(shard_of(ben), statement, (ben,))
    assert announce("posts", lines=[post.public], monkeypatch=monkeypatch).code == 0
    assert read(other, ann, "/api/v1/timelines/home") == []
    deliver_all()
    assert read(other, ann, f"/api/v1/accounts/{ben}")["statuses_count"] == 0


def test_follows_that_were_written_by_sql_have_both_sides_and_counts(other, monkeypatch):
    ann, ben, cyd = make_accounts(3)
    follow(ann, ben)
    deliver_all()
    lists = f"/api/v1/accounts/{ann}/following", f"/api/v1/accounts/{cyd}/followers"
    assert [len(read(other, ann, path)) for path in lists] == [1, 0]
    ForwardEdge.objects.of(ann).create(
        follower_id=ann, followee_id=cyd, attribute=Attribute.FOLLOW, revision=1, since_ms=1
    )
    ForwardEdge.objects.of(ann).filter(follower_id=ann, followee_id=ben).delete()
    lines = [f"{ann} {cyd}", f"{ann} {ben}"]
    assert announce("follows", lines=lines, monkeypatch=monkeypatch).code == 0
    deliver_all()
    assert [[a["id"] for a in read(other, ann, path)] for path in lists] == [[str(cyd)], [str(ann)]]
    assert read(other, ann, f"/api/v1/accounts/{ann}")["following_count"] == 1
    assert read(other, ann, f"/api/v1/accounts/{ben}")["followers_count"] == 0
    assert_drained_truth()


def test_subscribers_hear_of_it(world):
    ann = make_account()
    deliver_all()
    after = site_position_now()
    announce("accounts", "--account", ann)
    deliver_all()
    events = until(lambda: read_events(after, 10).events)
    assert [(e.type, e.data["account_id"]) for e in events] == [("account.updated", str(ann))]


def test_a_dry_run_names_the_rows_and_writes_nothing(world, monkeypatch):
    ann, ben = make_accounts(2)
    follow(ann, ben)
    post = publish(ann)
    deliver_all()
    for table, line in (("accounts", ann), ("follows", f"{ann} {ben}"), ("posts", post.public)):
        outcome = announce(table, "--dry-run", lines=[line], monkeypatch=monkeypatch)
        assert outcome.code == 0 and "1 would change" in outcome.out
    assert changes() == 0


def test_lines_that_name_no_row_fail_and_the_others_are_done(world, monkeypatch):
    ann = make_account()
    lines = [ann, "x", "", 10**9]
    outcome = announce("accounts", lines=lines, monkeypatch=monkeypatch)
    assert outcome.code == 1 and "1 changed, 2 failed" in outcome.out
    assert "line 2 names no row" in outcome.out and "there is no such row" in outcome.out


@pytest.mark.parametrize("words", [
    ["posts"], ["accounts", "--ids", "no-such-file"], ["follows", "--ids", "-", "--account", "1"],
    ["posts", "--ids", "-", "--since", "2026-01-01"],
])  # fmt: skip
def test_what_names_no_rows_is_refused(world, words):
    with pytest.raises(CommandError):
        announce(*words)


@pytest.mark.parametrize(("place", "table"), [
    ("posts.rows_announced", "posts"), ("relations.rows_announced", "follows"),
    ("checkpoint", "posts"), ("checkpoint", "follows"),
])  # fmt: skip
def test_a_run_that_is_killed_goes_on(world, place, table):
    """Killed before the counts: they are wrong until the next run, which repairs them."""
    people = make_accounts(6)
    for reader in people[1:]:
        follow(reader, people[0])
        publish(reader)
    deliver_all()
    spoil = "UPDATE counters_counter SET value = value + 7, version = version + 1"
    for alias in settings.SHARD_ALIASES:
        execute(alias, f"{spoil} WHERE kind IN (2, 3) AND value > 0")
    words = (table, "--since", "2020-01-01", "--batch-size", "2")
    dying_job.kill_at(place, 2, "changes", "announce", *words)
    assert wrong_counts()
    outcome = Outcome(AnnounceRows(), *words, "--resume")
    assert outcome.code == 0
    left = wrong_counts()
    assert not [row for row in left if row[1] == {"follows": 2, "posts": 3}[table]]


def wrong_counts():
    rows = Counter.objects
    return [
        (row.owner_id, row.kind)
        for alias in settings.SHARD_ALIASES
        for row in rows.on(alias).filter(kind__in=(2, 3), value__gte=7)
    ]


def test_it_reads_a_page_at_a_time(world):
    """Rows outside the span are read and not announced."""
    publish(make_account())
    deliver_all()
    words = ("posts", "--until", "2020-01-01")
    assert "0 rows done" in announce(*words).out
    assert changes() == 0
    assert fetch_all("shard0", "SELECT 1") == [(1,)]


@pytest.mark.parametrize("absurd", [10**17, -(10**17)])
def test_a_follow_with_a_time_of_no_calendar_is_announced_all_the_same(world, absurd):
    ann, ben = make_accounts(2)
    follow(ann, ben)
    deliver_all()
    ForwardEdge.objects.of(ann).update(since_ms=absurd)
    since = "2020-01-01T00:00:00Z" if absurd > 0 else "1960-01-01T00:00:00Z"
    done = announce("follows", "--since", since)
    assert done.code == 0, done.out
