"""import posts: posts with their dates, in every list that shows them, without notifications."""

import time
from datetime import UTC, datetime

import pytest

from counters.jobs.drifting_counts import audit_counters
from infra.jobs.types import Work
from infra.sharding.shards import shard_aliases
from notifications.models import Notification
from posts.actions.declare_type import declare_type
from posts.actions.delete_post import delete_post
from posts.verbs import AuditResponses
from tests.callers import Caller
from tests.dying import dying_at
from tests.integration.importing.imports import (
    account,
    everything,
    follow,
    ids_of,
    post,
    post_id,
    run_import,
)
from tests.integration.jobs.outcomes import Outcome
from tests.integration.timelines.homes import first_page, read_to_end
from tests.world import drain_all, find_live, publish
from timelines.verbs import AuditRecentPosts, AuditTags, AuditTimelines

AUDITS = (AuditResponses, AuditRecentPosts, AuditTags, AuditTimelines)


@pytest.fixture
def two(world, tmp_path):
    """ann follows bob."""
    run_import("accounts", tmp_path, [account("ann"), account("bob")])
    run_import("follows", tmp_path, [follow("ann", "bob")])
    return ids_of("ann", "bob")


def audits_agree():
    for audit in AUDITS:
        outcome = Outcome(audit())
        assert outcome.code == 0, outcome.out
    drift = [batch for batch in audit_counters(Work(shard_aliases())) if batch.failed]
    assert drift == []


def ago(seconds):
    return datetime.fromtimestamp(time.time() - seconds, UTC).isoformat()


@pytest.mark.parametrize("index", ["replicated", "by_author"])
def test_home_and_profile_show_the_posts_in_the_order_of_their_dates(
    two, tmp_path, settings, index
):
    ann, bob = two
    settings.RECENT_INDEX = index
    dates = ["2009-07-01T00:00:00Z", "2025-12-31T23:59:59Z", ago(86_400), ago(7_200), ago(60)]
    lines = [post(number, "bob", date) for number, date in enumerate(dates)]
    outcome = run_import("posts", tmp_path, [lines[number] for number in (3, 0, 4, 2, 1)])
    assert (outcome.code, outcome.out) == (0, "5 lines done, 5 changed, 0 failed\n")
    newest_first = [post_id(number).public for number in (4, 3, 2, 1, 0)]
    assert read_to_end(ann) == newest_first
    statuses = Caller(ann).get(f"/api/v1/accounts/{bob}/statuses").json()
    assert [one["id"] for one in statuses] == newest_first
    assert statuses[-1]["created_at"].startswith("2009-07-01T00:00:00")
    assert Caller(ann).get(f"/api/v1/accounts/{bob}").json()["statuses_count"] == 5
    audits_agree()


def test_a_live_home_gets_old_posts_at_the_end_and_new_ones_at_once(two, tmp_path):
    ann, bob = two
    shown = publish(bob)
    drain_all()
    assert first_page(ann) == [shown.public]
    assert find_live(ann) is not None
    run_import("posts", tmp_path, [post(1, "bob", ago(100_000)), post(2, "bob", ago(30))])
    expected = sorted([shown.public, post_id(1).public, post_id(2).public], reverse=True)
    assert first_page(ann) == expected
    audits_agree()


def test_a_poll_returns_what_has_just_happened_there_and_no_history(two, tmp_path):
    ann, bob = two
    caller = Caller(ann)
    newest = publish(bob)
    drain_all()
    seen = caller.get("/api/v1/timelines/home").json()
    assert [one["id"] for one in seen] == [newest.public]
    run_import("posts", tmp_path, [post(1, "bob", "2020-01-01T00:00:00Z"), post(2, "bob", ago(20))])
    polled = caller.get(f"/api/v1/timelines/home?min_id={newest.public}").json()
    assert [one["id"] for one in polled] == [post_id(2).public]


def test_answers_and_reposts_are_counted_where_they_belong(two, tmp_path):
    ann, bob = two
    lines = [
        post(3, "ann", "2021-01-03T00:00:00Z", in_reply_to="p-2"),
        post(1, "bob", text="see #Tides by @ann", visibility="public"),
        post(2, "ann", "2021-01-02T00:00:00Z", in_reply_to="p-1"),
        {"id": "p-4", "author": "u-ann", "created_at": "2021-01-04T00:00:00Z", "repost_of": "p-1"},
    ]
    assert run_import("posts", tmp_path, lines).out == "4 lines done, 4 changed, 0 failed\n"
    root = Caller(bob).get(f"/api/v1/statuses/{post_id(1).public}").json()
    assert (root["replies_count"], root["reblogs_count"]) == (1, 1)
    assert [one["id"] for one in root["mentions"]] == [str(ann)]
    context = Caller(bob).get(f"/api/v1/statuses/{post_id(1).public}/context").json()
    assert [one["id"] for one in context["descendants"]] == [post_id(n).public for n in (2, 3)]
    tagged = Caller(ann).get("/api/v1/timelines/tag/tides").json()
    assert [one["id"] for one in tagged] == [post_id(1).public]
    found = Caller(ann).get("/api/v2/search?q=tides&type=statuses").json()["statuses"]
    assert [one["id"] for one in found] == [post_id(1).public]
    own = Caller(ann).get(f"/api/v1/statuses/{post_id(1).public}").json()
    assert own["reblogged"] is True
    assert all(not Notification.objects.on(alias).exists() for alias in shard_aliases())
    audits_agree()


def test_two_reposts_of_one_post_are_one_and_an_answer_to_it_answers_the_post(two, tmp_path):
    ann, _ = two
    reposts = [{**post(number, "ann", repost_of="p-1"), "text": ""} for number in (2, 3)]
    answers = [post(4, "bob", in_reply_to="p-2"), {**post(5, "bob", repost_of="p-2"), "text": ""}]
    lines = [post(1, "bob"), *reposts, *answers]
    told = ["line 3: the author reposts this post already", "4 lines done, 4 changed, 1 failed"]
    assert run_import("posts", tmp_path, lines).out.splitlines() == told
    later = [*lines, post(6, "ann", in_reply_to="p-2")]
    assert run_import("posts", tmp_path, later).out.splitlines()[-1] == (
        "5 lines done, 1 changed, 1 failed"
    )
    alone = run_import("posts", tmp_path, [reposts[1]])
    assert alone.out.startswith("line 1: the author reposts this post already")
    root = Caller(ann).get(f"/api/v1/statuses/{post_id(1).public}").json()
    assert (root["replies_count"], root["reblogs_count"]) == (2, 2)
    Caller(ann).post(f"/api/v1/statuses/{post_id(1).public}/unreblog")
    drain_all()
    assert "1 failed" in run_import("posts", tmp_path, lines).out
    audits_agree()


def test_the_same_file_again_changes_nothing_also_after_a_deletion_here(two, tmp_path):
    lines = [
        post(1, "bob"),
        post(2, "ann", in_reply_to="p-1"),
        {**post(3, "ann", repost_of="p-1"), "text": ""},
        post(4, "bob"),
    ]
    run_import("posts", tmp_path, lines)
    delete_post(post_id(4))
    drain_all()
    before = everything()
    assert run_import("posts", tmp_path, lines).out == "4 lines done, 0 changed, 0 failed\n"
    assert everything() == before


def test_a_deletion_in_the_feed_deletes(two, tmp_path):
    ann, _ = two
    gone = {"id": "p-1", "author": "u-bob", "deleted": True}
    assert run_import("posts", tmp_path, [gone]).out == "1 lines done, 0 changed, 0 failed\n"
    outcome = run_import("posts", tmp_path, [post(1, "bob"), gone])
    assert outcome.out == "2 lines done, 2 changed, 0 failed\n"
    drain_all()
    assert first_page(ann) == []
    assert run_import("posts", tmp_path, [post(1, "bob"), gone]).out.startswith("2 lines done, 0 ")
    audits_agree()


def test_several_posts_of_one_second_keep_the_order_of_their_lines(two, tmp_path):
    ann, _ = two
    run_import("posts", tmp_path, [post(number, "bob") for number in range(30)])
    assert read_to_end(ann) == [post_id(number).public for number in reversed(range(30))]


def test_refused_lines_say_why(two, tmp_path):
    lines = [
        post(1, "nix"),
        post(2, "bob", "2005-12-31T00:00:00Z"),
        post(3, "bob", "2999-12-31T00:00:00Z"),
        post(4, "bob", in_reply_to="p-99"),
        post(5, "bob", text="x" * 10_000),
        post(6, "bob", text=" "),
        post(7, "bob", visibility="direct"),
        post(8, "bob", attachments=1),
        post(9, "bob", repost_of="p-8"),
        post(10, "bob", visibility="secret"),
        post(11, "bob", in_reply_to="p-12"),
        post(12, "bob", in_reply_to="p-11"),
        {**post(13, "bob"), "created_at": None},
        post(14, "bob", text="a\u0000b"),
    ]
    outcome = run_import("posts", tmp_path, lines)
    assert outcome.code == 1
    told = [line.partition(": ")[2] for line in outcome.out.splitlines()[:-1]]
    parts = [
        "no account", "before 2006", "future", "'p-99' is not here", "POST_MAX_CHARACTERS",
        "no text", "direct", "attachments", "a repost has no text", "secret", "answers itself",
        "answers itself", "created_at is missing", "NUL",
    ]  # fmt: skip
    assert len(told) == len(parts)
    assert all(part in line for part, line in zip(parts, told, strict=True)), told
    assert run_import("posts", tmp_path, [lines[7]], "--without-attachments").code == 0


def test_types_and_data_of_a_product_come_along(two, tmp_path):
    declare_type("recipe.cooked", {"en": "cooked"})
    recipe = {"b": 1, "a": ["\u00fc", 1.5, None], "quote": "1"}
    lines = [post(1, "bob", type="recipe.cooked", custom=recipe), post(2, "bob", custom={})]
    assert run_import("posts", tmp_path, [*lines, post(3, "bob")]).code == 0
    shown = [read_post(two[0], number) for number in (1, 2, 3)]
    assert [(one.get("type"), one.get("custom")) for one in shown] == [
        ("recipe.cooked", recipe), ("status", {}), (None, None),
    ]  # fmt: skip
    assert [*shown[0]["custom"]] == [*recipe]


def test_own_data_that_no_post_can_have_is_refused(two, tmp_path):
    lines = [
        post(1, "bob", type="recipe.burnt"),
        post(2, "bob", custom={"a": "x" * 4_096}),
        post(3, "bob", custom={"a": "\u0000"}),
        post(4, "bob", custom=[1]),
        post(5, "bob", custom={"a": 2**60}),
        {**post(6, "bob", repost_of="p-7", custom={}), "text": ""},
    ]
    outcome = run_import("posts", tmp_path, lines)
    assert outcome.code == 1
    parts = ["declared the type", "4,096 bytes", "NUL", "custom", "as text", "a repost has no type"]
    told = outcome.out.splitlines()[:-1]
    assert all(part in line for part, line in zip(parts, told, strict=True)), told


def read_post(viewer, number):
    return Caller(viewer).get(f"/api/v1/statuses/{post_id(number).public}").json()


@pytest.mark.parametrize(
    "place", ["posts.imported", "posts.imported_recorded", "drain.before_filing", "fan_out.indexed"]
)
def test_killed_anywhere_the_drain_and_a_second_run_do_the_rest(two, tmp_path, place):
    ann, _ = two
    lines = [
        post(1, "bob", ago(90_000)),
        post(2, "ann", ago(80_000), in_reply_to="p-1", text="#tag"),
        post(3, "bob", ago(50)),
    ]
    first_page(ann)
    with dying_at(place):
        run_import("posts", tmp_path, lines)
    drain_all()
    assert run_import("posts", tmp_path, lines).code == 0
    assert first_page(ann) == [post_id(number).public for number in (3, 2, 1)]
    audits_agree()


def test_a_dry_run_writes_nothing(two, tmp_path):
    before = everything()
    lines = [post(1, "bob"), post(2, "ann", in_reply_to="p-1"), post(3, "ann", in_reply_to="p-9")]
    dry = run_import("posts", tmp_path, lines, "--dry-run")
    assert dry.out.endswith("2 lines looked at, 2 would change, 1 failed\n")
    assert everything() == before
    assert run_import("posts", tmp_path, lines).out.splitlines()[:-1] == dry.out.splitlines()[:-1]


def test_a_feed_of_fresh_posts_leaves_live_homes_as_they_are(two, tmp_path):
    ann, _ = two
    first_page(ann)
    before = find_live(ann)
    assert before is not None
    run_import("posts", tmp_path, [post(1, "bob", ago(30))])
    after = find_live(ann)
    assert after is not None
    assert len(after.packed) == len(before.packed) + 1
    run_import("posts", tmp_path, [post(1, "bob", ago(30)), post(2, "bob", ago(90_000))])
    assert find_live(ann) is None
    run_import("posts", tmp_path, [post(2, "bob", ago(90_000))])
    assert first_page(ann) == [post_id(1).public, post_id(2).public]
