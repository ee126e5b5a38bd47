"""The process that publishes scheduled posts dies at each step: every post is there once."""

import time
from signal import SIGKILL

import pytest

from infra.sharding.buckets import shard_of
from posts.models import Post
from posts.scheduled.actions.publish_due import publish_due
from posts.scheduled.actions.schedule import schedule_post
from posts.scheduled.models import ScheduledPost
from posts.scheduled.types import PostParams
from relations.actions.follow import follow
from tests.callers import Caller, ids_of
from tests.loaded_process import LoadedProcess, run_loaded
from tests.truth import assert_drained_truth
from tests.world import drain_all, make_accounts

pytestmark = pytest.mark.core

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
