"""Publishes made-up posts of a community, one by one, with create_post."""

import time
from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate
from random import Random
from typing import NamedTuple

from infra.changes.compensate import compensate
from infra.changes.failpoints import failpoint
from infra.jobs.checkpoints import find_checkpoint, save_checkpoint
from infra.jobs.types import Batch
from infra.sharding.buckets import group_by_shard
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all
from operations.demo.rows import Ids
from operations.demo.texts import made_up_text
from operations.demo.types import Community
from posts.actions.create_post import create_post
from posts.sql import PUBLISHED_KEYS
from posts.types import Draft

JOB = "load_graph posts"
POSTS_A_BATCH = 100
Clock = Callable[[], float]  # Unix seconds


class PostPlan(NamedTuple):
    """How many posts there are, and which (`seed`).

    Posts are dated over the `spread_s` seconds that end `end_s` before the first run. With 0 they
    get the time of publishing.
    """

    total: int
    seed: int
    spread_s: float = 0.0
    end_s: float = 0.0

    def clock(self, number: int, began_at_s: float, clock_s: Clock) -> Clock:
        """The time of a post. It grows with the number, because an author's post ids must grow."""
        if not self.spread_s:
            return clock_s
        last_s = began_at_s - self.end_s
        return lambda: last_s - self.spread_s * (1 - number / self.total)


class PublishProgress(NamedTuple):
    """How many posts are published, and when the first run began, in Unix seconds."""

    done: int
    began_at_s: float


def publish_posts(
    community: Community, ids: Ids, plan: PostPlan, clock_s: Clock = time.time
) -> Iterator[Batch]:
    """Publishes the missing posts of the plan with create_post.

    The caller holds `loading_lock`. Safety: idempotent; after a kill, run it again at any time.
    """
    posts = PlannedPosts(community, ids, plan)
    began = read_progress(community, plan) or PublishProgress(0, clock_s())
    done = began.done + _count_published(posts, began.done)
    # Saved before the next post, which may remove the key that proves the author's last post.
    _save_progress(community, plan, began._replace(done=done))
    while done < plan.total:
        batch = range(done, min(done + POSTS_A_BATCH, plan.total))
        for number in batch:
            posts.publish(number, plan.clock(number, began.began_at_s, clock_s))
            failpoint("demo.post_published")
        done = batch.stop
        _save_progress(community, plan, began._replace(done=done))
        yield Batch(len(batch), note=f"{done:,} of {plan.total:,} posts")


class PlannedPosts:
    """The posts of a plan, by number. Authors are drawn in proportion to their followers."""

    def __init__(self, community: Community, ids: Ids, plan: PostPlan) -> None:
        graph = community.graph
        self._scope = _scope(community, plan)
        self._nodes = [node for node in graph.nodes if graph.follower_count(node)]
        self._reach = list(accumulate(map(graph.follower_count, self._nodes)))
        self._ids = ids

    def key(self, number: int) -> str:
        """The Idempotency-Key of the post. It is also the seed for author and text."""
        return f"{self._scope}:{number}"

    def author_id(self, number: int) -> int:
        at = Random(self.key(number)).random() * self._reach[-1]
        return self._ids[self._nodes[bisect(self._reach, at)]]

    def publish(self, number: int, clock_s: Clock) -> None:
        key = self.key(number)
        draft = Draft(made_up_text(key), language="en")
        create_post(self.author_id(number), draft, key, clock_s)


def read_progress(community: Community, plan: PostPlan) -> PublishProgress | None:
    """The progress of this plan; None before the first run. One query."""
    position = find_checkpoint(JOB, _scope(community, plan))
    return PublishProgress(*position) if position else None


def deliver_pending() -> None:
    """Drains every lane of every database in this process."""
    for alias in all_aliases():
        for _ in compensate(alias):
            pass


def _count_published(posts: PlannedPosts, done: int) -> int:
    """The number of posts after the checkpoint that a killed run published.

    create_post accepts a key only for an hour. The table has it until the author's next post.
    """
    numbers = range(done, done + POSTS_A_BATCH)
    keys = [posts.key(number) for number in numbers]
    groups = group_by_shard({posts.author_id(number) for number in numbers})
    rows = [
        row
        for alias, ids in groups.items()
        for row in fetch_all(alias, PUBLISHED_KEYS, (ids, keys))
    ]
    return len(rows)


def _save_progress(community: Community, plan: PostPlan, progress: PublishProgress) -> None:
    save_checkpoint(JOB, _scope(community, plan), progress)


def _scope(community: Community, plan: PostPlan) -> str:
    return f"{community.name}:{plan.seed}"
