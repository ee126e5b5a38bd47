"""A small world whose pages read most families of Redis, and the keys of each family."""

from typing import Any

import orjson

from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.types import Kind
from relations.actions.follow import follow
from tests.callers import Caller
from tests.world import drain_all, make_accounts, publish
from timelines.hot.actions.heat import heat_author


class Town:
    """I follow a friend and a star, whose posts are hot. The friend reposts the star's post."""

    def __init__(self) -> None:
        self.me, self.friend, self.star = make_accounts(3)
        follow(self.me, self.friend)
        follow(self.me, self.star)
        follow(self.friend, self.me)
        heat_author(shard_of(self.star), self.star)
        self.caller = Caller(self.me)
        self.caller.get("/api/v1/timelines/home")
        self.post, self.hot = publish(self.friend), publish(self.star)
        repost(self.friend, self.hot)
        mark_post(self.me, self.post, Kind.FAVOURITE, True)
        drain_all()

    def paths(self) -> list[str]:
        accounts = "/api/v1/accounts"
        return [
            "/api/v1/timelines/home", "/api/v1/timelines/public", "/api/v1/favourites",
            f"{accounts}/verify_credentials", f"{accounts}/{self.friend}",
            f"{accounts}/{self.friend}/statuses", f"{accounts}/{self.me}/following",
            f"{accounts}/{self.friend}/following", f"{accounts}/{self.me}/followers",
            f"{accounts}/{self.star}/followers",
            f"{accounts}/relationships?id[]={self.friend}&id[]={self.star}",
            f"/api/v1/statuses/{self.post.public}", f"/api/v1/statuses/{self.post.public}/context",
            f"/api/v1/statuses/{self.hot.public}/reblogged_by", "/api/v1/instance",
        ]  # fmt: skip

    def read(self) -> dict[str, Any]:
        answers = {path: self.caller.get(path) for path in self.paths()}
        wrong = {p: a.status_code for p, a in answers.items() if a.status_code != 200}
        assert wrong == {}
        return {path: orjson.loads(answer.content) for path, answer in answers.items()}


def families() -> dict[str, list[bytes]]:
    """The keys in Redis, by family."""
    found: dict[str, list[bytes]] = {}
    for key in redis().call("KEYS", "*"):
        found.setdefault(key.partition(b":")[0].decode(), []).append(key)
    return found
