"""Publishes made-up posts of a community, one by one, the way everybody publishes."""

import time
from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate
from random import Random
from typing import NamedTuple

from demo.graphs import Graph
from demo.rows import Ids
from demo.texts import made_up_text
from demo.types import Community
from infra.changes.compensate import compensate
from infra.changes.failpoints import failpoint
from infra.jobs.checkpoints import find_checkpoint, keep_checkpoint
from infra.jobs.command import Batch
from infra.sharding.placement import all_aliases
from posts.actions.create_post import create_post
from posts.types import Draft

JOB = "load_graph posts"
POSTS_A_BATCH = 100


class PostPlan(NamedTuple):
    """How many posts in all, and which ones (`seed`).

    They are dated over `spread_s` seconds before the first run; with 0, when they are published.
    """

    total: int
    seed: int
    spread_s: float = 0.0


class Progress(NamedTuple):
    """How many posts of a plan are published, and when the first run began, Unix seconds."""

    done: int
    began_at_s: float


class Authors:
    """Who publishes what: drawn by how many followers they have."""

    def __init__(self, graph: Graph) -> None:
        self._nodes = [node for node in graph.nodes if graph.follower_count(node)]
        self._reach = list(accumulate(map(graph.follower_count, self._nodes)))

    def draw(self, seed: str) -> int:
        """A node. The same for the same seed."""
        return self._nodes[bisect(self._reach, Random(seed).random() * self._reach[-1])]


def publish_posts(
    community: Community, ids: Ids, plan: PostPlan, clock_s: Callable[[], float] = time.time
) -> Iterator[Batch]:
    """Publishes what of the plan is not published yet, as create_post does it.

    The caller holds `alone`. Safety: idempotent, killed anywhere: every post has its
    Idempotency-Key (kept a day), and those before the checkpoint are not tried again at all.
    Cost: about 5 ms a post.
    """
    progress = read_progress(community, plan) or Progress(0, clock_s())
    _keep(community, plan, progress)
    authors = Authors(community.graph)
    while progress.done < plan.total:
        batch = range(progress.done, min(progress.done + POSTS_A_BATCH, plan.total))
        for number in batch:
            seed = f"{community.name}:{plan.seed}:{number}"
            moment_s = _clock(plan, progress, number, clock_s)
            create_post(ids[authors.draw(seed)], _draft(seed), seed, moment_s)
            failpoint("demo.post_published")
        progress = progress._replace(done=batch.stop)
        _keep(community, plan, progress)
        yield Batch(len(batch), note="posts")


def read_progress(community: Community, plan: PostPlan) -> Progress | None:
    """How far this plan has come; None: it was never begun. One query."""
    position = find_checkpoint(JOB, _scope(community, plan))
    return Progress(*position) if position else None


def deliver_pending() -> None:
    """Drains every lane of every database, without bell or worker."""
    for alias in all_aliases():
        for _ in compensate(alias):
            pass


def _draft(seed: str) -> Draft:
    return Draft(made_up_text(seed), language="en")


def _clock(
    plan: PostPlan, progress: Progress, number: int, clock_s: Callable[[], float]
) -> Callable[[], float]:
    """The time of a post. Dated ones grow with their number, so that ids of an author do."""
    if not plan.spread_s:
        return clock_s
    return lambda: progress.began_at_s - plan.spread_s * (1 - number / plan.total)


def _keep(community: Community, plan: PostPlan, progress: Progress) -> None:
    keep_checkpoint(JOB, _scope(community, plan), progress)


def _scope(community: Community, plan: PostPlan) -> str:
    return f"{community.name}:{plan.seed}"
