"""Posts without Redis: published, read and deleted as usual; deleted posts never come back."""

import pytest

from infra.changes.compensate import drain
from infra.changes.lanes import lane_of
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from posts.reading.statuses import load_status_json
from tests.callers import Caller
from tests.private_world import bring_back, catch_up
from tests.server_faults import kill, pause
from tests.truth import assert_drained_truth
from tests.world import drain_all, make_account, publish

pytestmark = pytest.mark.core


@pytest.mark.parametrize("end", [kill, pause])
def test_posts_go_on_without_redis(services, end):
    ann = make_account()
    caller = Caller(ann)
    kept, gone = publish(ann), publish(ann)
    assert set(load_status_json([kept, gone])) == {kept, gone}
    end(services.redis)
    made = caller.post("/api/v1/statuses", {"status": "in the dark"})
    assert made.status_code == 200
    assert caller.delete(f"/api/v1/statuses/{gone.public}").status_code == 200
    assert set(load_status_json([kept, gone])) == {kept}
    seen = caller.get(f"/api/v1/statuses/{made.json()['id']}").json()
    # Its author's counts have moved since: with Redis away they are read from the shard.
    assert seen | {"account": None} == made.json() | {"account": None}
    assert seen["account"]["statuses_count"] == 2
    bring_back(services.redis)
    drain_all()
    assert set(load_status_json([kept, gone])) == {kept}
    assert caller.get(f"/api/v1/statuses/{made.json()['id']}").status_code == 200
    assert_drained_truth()


def test_responses_go_on_while_the_posts_shard_is_down(services):
    ann, bob, *_ = (make_account() for _ in range(4))
    original = publish(bob)
    drain_all()
    caller = Caller(ann)
    path = f"/api/v1/statuses/{original.public}"
    assert caller.get(path).status_code == 200
    shard = services.postgres[shard_of(bob)]
    kill(shard)
    done = caller.post(f"{path}/reblog")
    assert (done.status_code, done.json()["reblog"]["reblogged"]) == (200, True)
    assert caller.post(f"{path}/favourite").status_code == 200
    assert caller.get(path).json()["favourited"]
    drain(shard_of(ann), lane_of(ann))
    shard.start()
    catch_up()
    assert caller.get(path).json()["reblogs_count"] == 1
    assert_drained_truth()


@pytest.mark.parametrize("end", [kill, pause])
def test_responses_go_on_without_redis(services, end):
    ann, bob = make_account(), make_account()
    original, other = publish(bob), publish(bob)
    drain_all()
    caller = Caller(ann)
    caller.post(f"/api/v1/statuses/{other.public}/favourite")
    end(services.redis)
    for act, flag in (("reblog", "reblogged"), ("bookmark", "bookmarked")):
        path = f"/api/v1/statuses/{original.public}"
        assert caller.post(f"{path}/{act}").status_code == 200
        assert caller.get(path).json()[flag]
    caller.post(f"/api/v1/statuses/{other.public}/unfavourite")
    bring_back(services.redis)
    catch_up()
    shown = caller.get(f"/api/v1/statuses/{original.public}").json()
    assert (shown["reblogged"], shown["bookmarked"], shown["reblogs_count"]) == (True, True, 1)
    assert not caller.get(f"/api/v1/statuses/{other.public}").json()["favourited"]
    assert_drained_truth()


def test_posts_of_a_shard_that_is_down_are_503_and_others_are_read(services):
    ann, bob, *_ = (make_account() for _ in range(4))
    posts = [publish(ann), publish(bob)]
    drain_all()
    caller = Caller(ann)
    shard = services.postgres[f"shard{bob % 4}"]
    kill(shard)
    kill(services.redis)
    services.redis.start()
    paths = [f"/api/v1/statuses/{post_id.public}" for post_id in posts]
    answers = [caller.get(path) for path in paths]
    assert [answer.status_code for answer in answers] == [200, 503]
    assert caller.post("/api/v1/statuses", {"status": "mine"}).status_code == 200
    shard.start()
    assert caller.get(paths[1]).status_code == 200
    assert delete_post(posts[1]) == "hello"
    assert caller.get(paths[1]).status_code == 404
