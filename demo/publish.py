"""Publishes made-up posts of a community, one by one, the way everybody publishes."""

import time
from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate
from random import Random
from typing import NamedTuple

from demo.rows import Ids
from demo.texts import made_up_text
from demo.types import Community
from infra.changes.compensate import compensate
from infra.changes.failpoints import failpoint
from infra.jobs.checkpoints import find_checkpoint, save_checkpoint
from infra.jobs.types import Batch
from infra.sharding.buckets import group_by_shard
from infra.sharding.placement import all_aliases
from infra.sharding.sql import fetch_all
from posts.actions.create_post import create_post
from posts.types import Draft

JOB = "load_graph posts"
POSTS_A_BATCH = 100
Clock = Callable[[], float]  # Unix seconds

PUBLISHED = """
SELECT 1 FROM posts_publishedkey
WHERE author_id = ANY(%s::bigint[]) AND key = ANY(%s::text[])
"""


class PostPlan(NamedTuple):
    """How many posts in all, and which ones (`seed`).

    They are dated over `spread_s` seconds before the first run; with 0, when they are published.
    """

    total: int
    seed: int
    spread_s: float = 0.0

    def clock(self, number: int, began_at_s: float, clock_s: Clock) -> Clock:
        """The time of a post. Dated ones grow with their number, as ids of an author must."""
        if not self.spread_s:
            return clock_s
        return lambda: began_at_s - self.spread_s * (1 - number / self.total)


class PublishProgress(NamedTuple):
    """How many posts of a plan are published, and when the first run began, Unix seconds."""

    done: int
    began_at_s: float


def publish_posts(
    community: Community, ids: Ids, plan: PostPlan, clock_s: Clock = time.time
) -> Iterator[Batch]:
    """Publishes what of the plan is not published yet, as create_post does it.

    The caller holds `alone`. Safety: idempotent; killed anywhere, and run again at any time.
    Cost: about 7 ms a post.
    """
    posts = PlannedPosts(community, ids, plan)
    began = read_progress(community, plan) or PublishProgress(0, clock_s())
    done = began.done + _count_published(posts, began.done)
    # Before the next post: the keys by which the last ones were found may be forgotten with it.
    _keep(community, plan, began._replace(done=done))
    while done < plan.total:
        batch = range(done, min(done + POSTS_A_BATCH, plan.total))
        for number in batch:
            posts.publish(number, plan.clock(number, began.began_at_s, clock_s))
            failpoint("demo.post_published")
        done = batch.stop
        _keep(community, plan, began._replace(done=done))
        yield Batch(len(batch), note=f"{done:,} of {plan.total:,} posts")


class PlannedPosts:
    """The posts of a plan, by number. Authors are drawn by how many followers they have."""

    def __init__(self, community: Community, ids: Ids, plan: PostPlan) -> None:
        graph = community.graph
        self._scope = _scope(community, plan)
        self._nodes = [node for node in graph.nodes if graph.follower_count(node)]
        self._reach = list(accumulate(map(graph.follower_count, self._nodes)))
        self._ids = ids

    def key(self, number: int) -> str:
        """The Idempotency-Key, and the seed of all that is drawn for this post."""
        return f"{self._scope}:{number}"

    def author_id(self, number: int) -> int:
        at = Random(self.key(number)).random() * self._reach[-1]
        return self._ids[self._nodes[bisect(self._reach, at)]]

    def publish(self, number: int, clock_s: Clock) -> None:
        key = self.key(number)
        draft = Draft(made_up_text(key), language="en")
        create_post(self.author_id(number), draft, key, clock_s)


def read_progress(community: Community, plan: PostPlan) -> PublishProgress | None:
    """How far this plan has come; None: it was never begun. One query."""
    position = find_checkpoint(JOB, _scope(community, plan))
    return PublishProgress(*position) if position else None


def deliver_pending() -> None:
    """Drains every lane of every database, without a wake-up or a worker."""
    for alias in all_aliases():
        for _ in compensate(alias):
            pass


def _count_published(posts: PlannedPosts, done: int) -> int:
    """How many posts after the checkpoint a run that was killed had published, however long ago.

    create_post knows a key for an hour only; but it is in the table until its author's next post.
    """
    numbers = range(done, done + POSTS_A_BATCH)
    keys = [posts.key(number) for number in numbers]
    groups = group_by_shard({posts.author_id(number) for number in numbers})
    rows = [
        row for alias, ids in groups.items() for row in fetch_all(alias, PUBLISHED, (ids, keys))
    ]
    return len(rows)


def _keep(community: Community, plan: PostPlan, progress: PublishProgress) -> None:
    save_checkpoint(JOB, _scope(community, plan), progress)


def _scope(community: Community, plan: PostPlan) -> str:
    return f"{community.name}:{plan.seed}"
