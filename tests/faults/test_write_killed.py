"""A process dies with -9 after the commit of a write, before its inline consumers. The client sends
the request again to another process, which answers with the write and shows it from then on.

The process that publishes scheduled posts dies at each step: every post is there once.
"""

import time
from signal import SIGKILL

import pytest

from infra.sharding.buckets import shard_of
from posts.ids import PostId
from posts.models import Post
from posts.scheduled.actions.publish_due import publish_due
from posts.scheduled.actions.schedule import schedule_post
from posts.scheduled.models import ScheduledPost
from posts.scheduled.types import PostParams
from relations.actions.follow import follow
from tests.callers import Caller, ids_of
from tests.loaded_process import LoadedProcess, run_loaded
from tests.people import cast
from tests.truth import assert_drained_truth
from tests.world import drain_all, make_accounts, publish

pytestmark = pytest.mark.core

STATUSES = "/api/v1/statuses"
SCRIPT = """
import os, signal, sys
import django
django.setup()
from infra.changes.failpoints import arm
from posts.actions.create_post import create_post
from posts.actions.mark_post import mark_post
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost, undo_repost
from relations.actions.follow import follow, unfollow
from posts.ids import PostId
from posts.types import Draft, Kind
word, account, post = sys.argv[1:]
account, post = int(account), PostId.from_public(post)
arm("changes.committed", lambda: os.kill(os.getpid(), signal.SIGKILL))
if word == "publish":
    create_post(account, Draft("again", in_reply_to=post), "one")
elif word == "delete":
    delete_post(post)
elif word == "follow":
    follow(account, post.author_id)
elif word == "unfollow":
    unfollow(account, post.author_id)
elif word == "reblog":
    repost(account, post)
elif word == "unreblog":
    undo_repost(account, post)
else:
    mark_post(account, post, Kind.FAVOURITE, word == "favourite")
"""


def killed_while(word: str, account: int, post: PostId) -> None:
    assert run_loaded("-c", SCRIPT, word, str(account), post.public)[0] == -SIGKILL


people = cast(2)


@pytest.fixture
def original(people):
    """A post. All that is cached about both accounts is warm."""
    first, original = publish(people[0]), publish(people[1])
    drain_all()
    me = Caller(people[0])
    for post in (first, original):
        assert me.get(f"{STATUSES}/{post.public}").status_code == 200
    assert ids_of(me.get("/api/v1/timelines/home")) == [first.public]
    return original


def test_post_is_answered_and_shown_when_its_request_is_repeated(people, original):
    killed_while("publish", people[0], original)
    me = Caller(people[0])
    sent = {"status": "again", "in_reply_to_id": original.public}
    answer = me.post(STATUSES, sent, **{"Idempotency-Key": "one"})
    assert (answer.status_code, answer.json()["content"]) == (200, "<p>again</p>")
    assert Post.objects.of(people[0]).count() == 2
    post = answer.json()["id"]
    assert me.get(f"{STATUSES}/{post}").status_code == 200
    assert ids_of(me.get("/api/v1/timelines/home"))[0] == post
    assert me.post(STATUSES, {"status": "b", "in_reply_to_id": post}).status_code == 200
    drain_all()
    assert_drained_truth()


@pytest.mark.parametrize(("word", "flag"), [("reblog", "reblogged"), ("favourite", "favourited")])
def test_interaction_is_shown_when_its_request_is_repeated(people, original, word, flag):
    me, path = Caller(people[0]), f"{STATUSES}/{original.public}"
    for act, is_on in ((word, True), (f"un{word}", False)):
        killed_while(act, people[0], original)
        answer = me.post(f"{path}/{act}")
        assert answer.status_code == 200
        assert answer.json()[flag] is me.get(path).json()[flag] is is_on
        if word == "reblog":
            home = me.get("/api/v1/timelines/home").json()
            assert (home[0]["reblog"] is not None) is is_on
    drain_all()
    assert_drained_truth()


def test_post_is_gone_when_its_deletion_is_repeated(people, original):
    me, author = Caller(people[0]), Caller(people[1])
    killed_while("delete", people[1], original)
    assert author.delete(f"{STATUSES}/{original.public}").status_code == 404
    assert me.get(f"{STATUSES}/{original.public}").status_code == 404
    assert ids_of(me.get(f"/api/v1/accounts/{people[1]}/statuses")) == []
    drain_all()
    assert_drained_truth()


def test_follow_is_shown_when_its_request_is_repeated(people, original):
    me, other = Caller(people[0]), f"/api/v1/accounts/{people[1]}"
    shown = f"/api/v1/accounts/{people[0]}/following"
    assert ids_of(me.get(shown)) == []
    for word, followed in (("follow", [str(people[1])]), ("unfollow", [])):
        killed_while(word, people[0], original)
        assert me.post(f"{other}/{word}").json()["following"] is (word == "follow")
        assert ids_of(me.get(shown)) == followed
        home = ids_of(me.get("/api/v1/timelines/home"))
        assert (original.public in home) is (word == "follow")
    drain_all()
    assert_drained_truth()


def test_answer_to_a_new_post_comes_from_its_row_when_no_cache_has_it(
    people, original, monkeypatch
):
    """The inline consumers fail, but Redis answers reads: the cached week lacks the post."""
    monkeypatch.setattr("infra.changes.append.inline_consumers_of", lambda kinds: [])
    me = Caller(people[0])
    key = {"Idempotency-Key": "two"}
    answer = me.post(STATUSES, {"status": "new"}, **key)
    assert (answer.status_code, answer.json()["content"]) == (200, "<p>new</p>")
    again = me.post(STATUSES, {"status": "new"}, **key)
    first, repeated = answer.json(), again.json()
    counts = [post["account"].pop("statuses_count") for post in (first, repeated)]
    assert (again.status_code, repeated) == (200, first)
    assert counts == [2, 1], "the cached count is that of before until the drain has run"
    drain_all()
    assert me.post(STATUSES, {"status": "new"}, **key).content == answer.content


DUE = """
import os, signal, sys
import django
django.setup()
from infra.changes.failpoints import arm
from posts.scheduled.actions.publish_due import publish_due
point, alias, at_ms = sys.argv[1:]
if point:
    arm(point, lambda: os.kill(os.getpid(), signal.SIGKILL))
print(publish_due(alias, int(at_ms)))
"""
POINTS = ["scheduled.read", "scheduled.published", "changes.committed", "changes.consumed_inline"]


def scheduled(ann, count=1):
    """When they are due."""
    now = time.time_ns() // 1_000_000
    for n in range(count):
        schedule_post(ann, PostParams(f"{n}", False, "", "public"), now + 400_000 + n, "", now)
    return now + 500_000


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_each_step_it_is_published_once(ann, point):
    follower = make_accounts(1)[0]
    follow(follower, ann)
    at_ms = scheduled(ann)
    alias = shard_of(ann)
    assert run_loaded("-c", DUE, point, alias, str(at_ms))[0] == -SIGKILL
    is_done = point.startswith("changes.")
    assert Post.objects.of(ann).count() == is_done
    assert publish_due(alias, at_ms) == (not is_done)
    assert publish_due(alias, at_ms) == 0
    assert Post.objects.of(ann).count() == 1
    assert ScheduledPost.objects.of(ann).count() == 0
    drain_all()
    [post] = Caller(ann).get(f"/api/v1/accounts/{ann}/statuses").json()
    assert ids_of(Caller(follower).get("/api/v1/timelines/home")) == [post["id"]]
    assert_drained_truth()


def test_several_processes_at_once_publish_each_post_once(ann):
    at_ms = scheduled(ann, 20)
    started = [LoadedProcess("-c", DUE, "", shard_of(ann), str(at_ms)) for _ in range(3)]
    done = 0
    for process in started:
        with process:
            process.stdin.close()
            done += int(process.stdout.read())
        assert process.returncode == 0
    assert done == Post.objects.of(ann).count() == 20
    texts = [post.text for post in Post.objects.of(ann).order_by("moment")]
    assert sorted(texts, key=int) == [str(n) for n in range(20)]
    drain_all()
    assert_drained_truth()
