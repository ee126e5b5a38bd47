"""Scheduled posts over HTTP: kept, moved, cancelled, and published once when they are due."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from accounts.images.actions import store_image
from accounts.types import Restriction
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.set_policies import set_policies
from posts.api.views import statuses
from posts.errors import CannotQuote, CannotReply, QuotedNotFound
from posts.models import Post
from posts.scheduled.actions import publish_due as publishing
from posts.scheduled.actions.publish_due import publish_due
from posts.scheduled.models import ScheduledPost
from posts.scheduled.sql import TABLE
from posts.types import Draft, QuotePolicy, ReplyPolicy, Visibility
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused, ids_of, next_link
from tests.pictures import picture, upload
from tests.redis_away import redis_away
from tests.world import drain_all, make_accounts, publish, restrict

STATUSES, SCHEDULED = "/api/v1/statuses", "/api/v1/scheduled_statuses"
MINUTE_MS = 60_000
MOVE = 77


def in_minutes(minutes):
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()


def run(account_id, minutes):
    """The periodic task, at that time."""
    return publish_due(shard_of(account_id), time.time_ns() // 1_000_000 + minutes * MINUTE_MS)


def schedule(me, minutes=10, status="later", **more):
    sent = {"status": status, "scheduled_at": in_minutes(minutes), **more}
    answer = me.post(STATUSES, sent)
    assert answer.status_code == 200, answer.content
    return answer.json()


def own_posts(me):
    return me.get(f"/api/v1/accounts/{me.id}/statuses").json()


def test_kept_then_published_with_all_its_parts(me, people):
    follow(people[1], me.id)
    original, quoted = publish(people[1], "question"), publish(people[1], "look at this")
    drain_all()
    poll = {"options": ["a", "b"], "expires_in": 600, "multiple": True}
    scheduled = schedule(
        me, 10, "answer #tea", spoiler_text="careful", visibility="unlisted", language="fr",
        in_reply_to_id=original.public, poll=poll, quoted_status_id=quoted.public,
        quote_approval_policy="followers",
    )  # fmt: skip
    assert scheduled["error"] is None and scheduled["media_attachments"] == []
    assert scheduled["params"] == {
        "text": "answer #tea", "spoiler_text": "careful", "visibility": "unlisted",
        "language": "fr", "sensitive": True, "in_reply_to_id": original.public,
        "poll": poll | {"hide_totals": False}, "media_ids": None, "scheduled_at": None,
        "idempotency": None, "with_rate_limit": False,
        "quoted_status_id": quoted.public, "quote_approval_policy": "followers",
        "reply_approval_policy": "public",
        "type": "status",
        "custom": None,
        "application_id": scheduled["params"]["application_id"],
    }  # fmt: skip
    assert own_posts(me) == [] and run(me.id, 9) == 0
    assert me.get(f"{SCHEDULED}/{scheduled['id']}").json() == scheduled
    assert run(me.id, 11) == 1
    assert run(me.id, 11) == 0
    [post] = own_posts(me)
    assert (post["spoiler_text"], post["visibility"], post["language"], post["sensitive"]) == (
        "careful", "unlisted", "fr", True,
    )  # fmt: skip
    assert post["in_reply_to_id"] == original.public
    assert post["quote"]["quoted_status"]["id"] == quoted.public
    assert post["quote_approval"]["automatic"] == ["followers"]
    ends = datetime.fromisoformat(post["poll"]["expires_at"]).timestamp()
    assert abs(ends - time.time() - 600) < 60, "it begins when it is published"
    assert_refused(me.get(f"{SCHEDULED}/{scheduled['id']}"), 404)
    drain_all()
    assert post["id"] in ids_of(Caller(people[1]).get("/api/v1/timelines/home"))


def test_defaults_are_those_of_the_request(me):
    profile = "/api/v1/accounts/update_credentials"
    me.client.patch(profile, {"source": {"privacy": "private"}}, "application/json")
    assert schedule(me)["params"]["visibility"] == "private"
    me.client.patch(profile, {"source": {"privacy": "public"}}, "application/json")
    run(me.id, 11)
    assert own_posts(me)[0]["visibility"] == "private"


def test_images_are_kept_and_taken(me):
    media = [me.client.post("/api/v2/media", {"file": upload(picture())}).json() for _ in range(2)]
    ids = [image["id"] for image in media]
    scheduled = schedule(me, 2 * 24 * 60, "", media_ids=ids)
    assert [image["id"] for image in scheduled["media_attachments"]] == ids
    again = {"status": "x", "media_ids": ids[:1], "scheduled_at": in_minutes(20)}
    assert_refused(me.post(STATUSES, again), 422)
    assert me.delete(f"{SCHEDULED}/{scheduled['id']}").json() == {}
    schedule(me, 10, "two", media_ids=ids)
    assert run(me.id, 11) == 1
    assert [image["id"] for image in own_posts(me)[0]["media_attachments"]] == ids
    assert_refused(me.post(STATUSES, again), 422)


@pytest.mark.parametrize("is_edit", [False, True])
def test_no_other_post_takes_an_image_that_waits(me, is_edit):
    media = me.client.post("/api/v2/media", {"file": upload(picture())}).json()["id"]
    scheduled = schedule(me, 10, "later", media_ids=[media])
    sent = {"status": "now", "media_ids": [media]}
    taken = (
        me.client.put(f"{STATUSES}/{publish(me.id).public}", sent, "application/json")
        if is_edit
        else me.post(STATUSES, sent)
    )
    assert_refused(taken, 422)
    assert run(me.id, 11) == 1
    later = own_posts(me)[0]
    assert [image["id"] for image in later["media_attachments"]] == [media]
    assert_refused(me.get(f"{SCHEDULED}/{scheduled['id']}"), 404)


def test_a_repeated_request_answers_the_same_after_the_post_is_out(me):
    """For an hour, also with images that now belong to the post; and it is in no list."""
    media = me.client.post("/api/v2/media", {"file": upload(picture())}).json()["id"]
    sent = {"status": "later", "scheduled_at": in_minutes(6), "media_ids": [media]}
    key = {"Idempotency-Key": "k" * 255}
    first = me.post(STATUSES, sent, **key)
    assert first.status_code == 200
    for minutes in (5, 7):
        assert run(me.id, minutes) == (minutes == 7)
        again = me.post(STATUSES, sent, **key)
        assert (again.status_code, again.json()) == (200, first.json())
    assert len(own_posts(me)) == 1 and me.get(SCHEDULED).json() == []
    path = f"{SCHEDULED}/{first.json()['id']}"
    for answer in (me.get(path), me.delete(path), me.put(path, {"scheduled_at": in_minutes(9)})):
        assert_refused(answer, 404)
    hour = "UPDATE scheduled_posts_scheduledpost SET scheduled_id = scheduled_id - 3600000"
    execute(shard_of(me.id), hour)
    assert_refused(me.post(STATUSES, {**sent, "scheduled_at": in_minutes(1)}, **key), 422)
    schedule(me)
    assert ScheduledPost.objects.on(shard_of(me.id)).count() == 1


def test_moved_and_cancelled(me):
    first, other = schedule(me, 10, "first"), schedule(me, 20, "other")
    moved = me.client.put(
        f"{SCHEDULED}/{first['id']}", {"scheduled_at": in_minutes(30)}, "application/json"
    ).json()
    assert moved["scheduled_at"] > other["scheduled_at"]
    assert moved["params"] == first["params"]
    assert me.get(f"{SCHEDULED}/{first['id']}").json() == moved
    assert me.delete(f"{SCHEDULED}/{other['id']}").json() == {}
    assert_refused(me.delete(f"{SCHEDULED}/{other['id']}"), 404)
    assert run(me.id, 25) == 0 and run(me.id, 31) == 1
    assert [post["content"] for post in own_posts(me)] == ["<p>first</p>"]


def test_others_do_not_see_them(me, people):
    scheduled, other = schedule(me), Caller(people[1], "read write")
    path = f"{SCHEDULED}/{scheduled['id']}"
    assert other.get(SCHEDULED).json() == []
    for answer in (
        other.get(path),
        other.delete(path),
        other.client.put(path, {"scheduled_at": in_minutes(9)}, "application/json"),
    ):
        assert_refused(answer, 404)
    assert_refused(Caller(me.id, "read:accounts").get(SCHEDULED), 403)
    assert_refused(Caller(me.id, "read").delete(path), 403)
    assert_refused(Caller(None).get(path), 422)
    assert len(me.get(SCHEDULED).json()) == 1


@pytest.mark.parametrize(
    "at",
    [
        *("tomorrow", "2020-01-01", "99999-01-01", "x" * 50, "0001-01-01T00:00:00+14:00", 7),
        "9999-12-31T23:59:59-12:00",
    ],
)
def test_no_time_and_times_too_soon_are_refused(me, at):
    assert_refused(me.post(STATUSES, {"status": "x", "scheduled_at": at}), 422)
    assert_refused(me.post(STATUSES, {"status": "x", "scheduled_at": in_minutes(4)}), 422)
    path = f"{SCHEDULED}/{schedule(me)['id']}"
    for sent in ({"scheduled_at": at}, {"scheduled_at": in_minutes(4)}, {}):
        assert_refused(me.client.put(path, sent, "application/json"), 422)
    for wrong in ("x", "9" * 30, "-1"):
        assert_refused(me.get(f"{SCHEDULED}/{wrong}"), 404)
    assert own_posts(me) == [], "nothing is published at once"


def test_a_post_that_may_not_be_quoted_any_more_is_not_published(me, people):
    quoted = publish(people[1], "look at this")
    closed = publish(people[1], "and at this")
    schedule(me, 10, quoted_status_id=closed.public)
    schedule(me, 10, quoted_status_id=quoted.public)
    set_policies(closed, QuotePolicy.NOBODY, None)
    delete_post(quoted)
    assert run(me.id, 11) == 0 and own_posts(me) == []
    errors = {scheduled["error"] for scheduled in me.get(SCHEDULED).json()}
    assert errors == {QuotedNotFound.text, CannotQuote.text}


def test_a_reply_that_is_not_allowed_any_more_is_not_published(me, people):
    closed = publish(people[1], "talk to me")
    schedule(me, 10, in_reply_to_id=closed.public, reply_approval_policy="mentioned")
    [scheduled] = me.get(SCHEDULED).json()
    assert scheduled["params"]["reply_approval_policy"] == "mentioned"
    set_policies(closed, None, ReplyPolicy.NOBODY)
    assert run(me.id, 11) == 0 and own_posts(me) == []
    assert me.get(SCHEDULED).json()[0]["error"] == CannotReply.text


def test_a_scheduled_post_keeps_who_may_reply(me):
    schedule(me, 10, reply_approval_policy="following")
    assert run(me.id, 11) == 1
    [post] = own_posts(me)
    assert post["reply_approval"]["automatic"] == ["following", "mentioned"]


def test_what_is_wrong_is_refused_before_it_is_kept(me, people):
    private = create_post(people[1], Draft("private", visibility=Visibility.PRIVATE))
    for sent, status in (
        ({"status": ""}, 422), ({"status": "x" * 501}, 422), ({"visibility": "mine"}, 422),
        ({"poll": {"options": ["a"], "expires_in": 600}}, 422), ({"media_ids": ["1"]}, 422),
        ({"in_reply_to_id": private.public}, 404), ({"quoted_status_id": "1"}, 404),
    ):  # fmt: skip
        body = {"status": "x", "scheduled_at": in_minutes(9)} | sent
        assert_refused(me.post(STATUSES, body), status)
    assert me.get(SCHEDULED).json() == []


def test_an_edit_has_no_time(me):
    post = publish(me.id, "out")
    sent = {"status": "changed", "scheduled_at": in_minutes(9)}
    path = f"{STATUSES}/{post.public}"
    assert_refused(me.client.put(path, sent, "application/json"), 422)
    assert me.get(path).json()["content"] == "<p>out</p>"


def test_a_repeated_key_keeps_one(me):
    key = {"Idempotency-Key": "k"}
    sent = {"status": "once", "scheduled_at": in_minutes(9)}
    answers = [me.post(STATUSES, sent, **key).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0]["params"]["idempotency"] == "k"
    assert len(me.get(SCHEDULED).json()) == 1


def test_a_repeated_key_is_known_when_the_time_has_come_near(me, monkeypatch):
    """The answer of the first request was lost: a refusal would make the author schedule again."""
    key, sent = {"Idempotency-Key": "k"}, {"status": "once", "scheduled_at": in_minutes(6)}
    first = me.post(STATUSES, sent, **key).json()
    later = time.time_ns() // 1_000_000 + 2 * MINUTE_MS
    monkeypatch.setattr(statuses, "now_ms", lambda: later)
    assert me.post(STATUSES, sent, **key).json() == first
    assert_refused(me.post(STATUSES, sent, **{"Idempotency-Key": "another"}), 422)
    assert len(me.get(SCHEDULED).json()) == 1


def test_the_last_moment_that_can_be_shown(me):
    sent = {"status": "x", "scheduled_at": "9999-12-31T23:59:59.999999Z"}
    scheduled = me.post(STATUSES, sent).json()
    assert scheduled["scheduled_at"] == "9999-12-31T23:59:59.999Z"
    assert me.get(SCHEDULED).json() == [scheduled]


def test_images_that_wait_leave_room_for_uploads(me, monkeypatch):
    """Else a person with many scheduled photos could upload none for weeks, not even an avatar."""
    monkeypatch.setattr(store_image, "MOST_UNUSED", 2)
    for n in range(3):
        image = me.client.post("/api/v2/media", {"file": upload(picture())}).json()
        schedule(me, 10 + n, media_ids=[image["id"]])
    for _ in range(2):
        assert me.client.post("/api/v2/media", {"file": upload(picture())}).status_code == 200
    assert_refused(me.client.post("/api/v2/media", {"file": upload(picture())}), 429)


def test_limits_of_a_day_and_in_all(me, monkeypatch):
    noon = datetime.now(UTC).replace(hour=12, minute=0) + timedelta(days=3)
    for n in range(25):
        sent = {"status": f"{n}", "scheduled_at": (noon + timedelta(minutes=n)).isoformat()}
        assert me.post(STATUSES, sent).status_code == 200
    assert_refused(me.post(STATUSES, sent), 422)
    newest = me.get(SCHEDULED).json()[0]
    moved = {"scheduled_at": (noon + timedelta(hours=1)).isoformat()}
    path = f"{SCHEDULED}/{newest['id']}"
    assert me.client.put(path, moved, "application/json").status_code == 200, "itself is no other"
    monkeypatch.setattr("posts.scheduled.actions.schedule.MOST_SCHEDULED", 25)
    assert_refused(me.post(STATUSES, {"status": "x", "scheduled_at": in_minutes(9)}), 422)


def test_pages_meet(me):
    ids = [schedule(me, 10 + n, str(n))["id"] for n in range(5)]
    pages, path = [], f"{SCHEDULED}?limit=2"
    while path:
        answer = me.get(path)
        pages += ids_of(answer)
        path = next_link(answer)
    assert pages == ids[::-1]
    assert ids_of(me.get(SCHEDULED, {"min_id": ids[0], "limit": 2})) == [ids[2], ids[1]]
    assert ids_of(me.get(SCHEDULED, {"since_id": ids[2]})) == [ids[4], ids[3]]
    assert_refused(me.get(SCHEDULED, {"max_id": "x"}), 422)


def failed(me):
    [scheduled] = me.get(SCHEDULED).json()
    return scheduled["error"]


def test_a_lost_parent_is_told_and_a_new_time_tries_again(me, people):
    original = publish(people[1])
    drain_all()
    scheduled = schedule(me, in_reply_to_id=original.public)
    Caller(people[1]).delete(f"{STATUSES}/{original.public}")
    drain_all()
    assert run(me.id, 11) == run(me.id, 12) == 0
    assert "reply to does not appear to exist" in failed(me)
    path = f"{SCHEDULED}/{scheduled['id']}"
    me.client.put(path, {"scheduled_at": in_minutes(30)}, "application/json")
    assert failed(me) is None
    assert me.delete(path).status_code == 200
    assert own_posts(me) == []


def test_a_frozen_author_publishes_nothing(me):
    schedule(me)
    restrict(me.id, Restriction.FROZEN)
    assert run(me.id, 11) == 0
    restrict(me.id, Restriction.NONE)
    assert "frozen or suspended" in failed(me)
    assert Post.objects.of(me.id).count() == 0


def test_a_bug_stops_neither_the_task_nor_other_posts(me, monkeypatch):
    schedule(me, 8, "broken")
    schedule(me, 9, "fine")
    read_links = publishing.read_links

    def break_first(text):
        if text == "broken":
            raise ZeroDivisionError
        return read_links(text)

    monkeypatch.setattr(publishing, "read_links", break_first)
    assert run(me.id, 11) == 1
    assert failed(me) == "The post could not be published"


def test_a_store_that_is_away_puts_it_off(me, monkeypatch):
    schedule(me)
    with monkeypatch.context() as patched:
        patched.setattr(publishing, "read_links", _away)
        assert run(me.id, 11) == 0
    assert failed(me) is None
    assert run(me.id, 11) == 0, "not at once again"
    assert run(me.id, 12) == 1


def _away(text):
    raise publishing.OperationalError("away")


@pytest.fixture
def moving():
    """Closes the rows of one author as a move does."""
    closed = []

    def close(alias, author_id):
        closed.append(alias)
        execute(alias, "INSERT INTO moves_guard VALUES (%s, 1, 'infinity')", [MOVE])
        execute(alias, f"""
            CREATE TRIGGER guard_of_test BEFORE UPDATE OR DELETE ON {TABLE} FOR EACH ROW
            WHEN (OLD.author_id = {author_id}) EXECUTE FUNCTION moves_refuse_if_closed('{MOVE}')
        """)  # fmt: skip

    yield close
    for alias in closed:
        execute(alias, f"DROP TRIGGER guard_of_test ON {TABLE}")
        execute(alias, "DELETE FROM moves_guard WHERE move = %s", [MOVE])


def test_an_account_that_moves_holds_up_no_other(me, moving):
    alias = shard_of(me.id)
    other = next(i for i in make_accounts(4) if shard_of(i) == alias)
    schedule(me, 8)
    schedule(Caller(other, "read write"), 9)
    moving(alias, me.id)
    assert run(me.id, 11) == 1
    assert Post.objects.of(other).count() == 1
    assert failed(me) is None


def test_without_redis_it_is_published_too(me, people):
    original = publish(people[1], "question")
    drain_all()
    schedule(me, in_reply_to_id=original.public)
    with redis_away():
        assert run(me.id, 11) == 1
    assert own_posts(me)[0]["in_reply_to_id"] == original.public


def test_a_change_while_it_is_published_wins(me, monkeypatch):
    scheduled = schedule(me)
    read_links = publishing.read_links

    def cancel(text):
        assert me.delete(f"{SCHEDULED}/{scheduled['id']}").status_code == 200
        return read_links(text)

    monkeypatch.setattr(publishing, "read_links", cancel)
    assert run(me.id, 11) == 0
    assert Post.objects.of(me.id).count() == 0 == ScheduledPost.objects.of(me.id).count()


def test_costs(me):
    for n in range(3):
        schedule(me, 10 + n)
    with count_calls() as calls:
        me.get(SCHEDULED)
    assert len(calls.statements) == 1
    with count_calls() as calls:
        assert run(me.id, 1) == 0
    assert len(calls.statements) == 1, "nothing is due"
