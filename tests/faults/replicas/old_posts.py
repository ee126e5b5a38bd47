"""Posts that replicas are asked for, the pages that have them, and who was asked."""

import time
from functools import partial

from infra.caching.client import redis
from infra.caching.remembered import forget_answers
from posts.actions.create_post import create_post
from posts.ids import PostId
from posts.types import Draft
from tests.budgets import Calls

DAY_S = 86_400


def old_posts(author_id: int, count: int = 3, days: int = 40) -> list[PostId]:
    """Of weeks that Redis does not keep, newest first."""
    began = time.time() - days * DAY_S
    times = [partial(float, began + n) for n in range(count)]
    return [create_post(author_id, Draft("old"), clock_s=clock_s) for clock_s in times][::-1]


def forget_caches() -> None:
    redis().call("FLUSHDB")
    forget_answers()


def asked(calls: Calls, alias: str, word: str) -> int:
    return sum(s.alias == alias and word in s.sql for s in calls.statements)


def path_of(author_id: int, post_id: PostId | None = None, **query: object) -> str:
    more = "&".join(f"{name}={value}" for name, value in query.items())
    if post_id is not None:
        more += f"&max_id={post_id.public}"
    return f"/api/v1/accounts/{author_id}/statuses?{more}"
