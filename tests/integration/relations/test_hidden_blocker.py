"""An account that is blocked gets the same bytes as if the blocker had done nothing.

By difference: every endpoint answers the same before and after acts of the blocker. Every write
answers the same for a post of the blocker and for a post that does not exist.
"""

import re
from functools import partial
from typing import Any

import pytest

from posts.ids import PostId
from tests.callers import Caller
from tests.reads import World, all_reads, answers
from tests.world import drain_all, make_account, publish

# Everybody sees these numbers of a post and of an account.
PUBLIC_COUNTS = re.compile(
    rb'"(replies_count|reblogs_count|favourites_count|statuses_count)":\d+|"last_status_at":[^,]+'
)


class Community:
    """Ann blocks bob. Cat follows ann and is followed by bob; her post is open to both."""

    def __init__(self) -> None:
        self.ann, self.bob, self.cat = (make_account(name) for name in ("ann", "bob", "cat"))
        self.callers = {one: Caller(one) for one in (self.ann, self.bob, self.cat)}
        self.post = publish(self.cat)
        self.hers = publish(self.ann)
        self.act(self.cat, f"accounts/{self.ann}/follow")
        self.act(self.bob, f"accounts/{self.cat}/follow")
        self.act(self.bob, f"statuses/{self.post.public}/favourite")
        self.act(self.bob, f"statuses/{self.post.public}/reblog")
        self.act(self.bob, f"statuses/{self.hers.public}/favourite")
        self.act(self.bob, f"statuses/{self.hers.public}/bookmark")
        self.act(self.ann, f"accounts/{self.bob}/block")
        drain_all()

    def act(self, actor: int, path: str, body: Any = None) -> Any:
        answer = self.callers[actor].post(f"/api/v1/{path}", body)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def seen_by_bob(self) -> dict[Any, Any]:
        people = {self.ann: "ann", self.bob: "bob", self.cat: "cat"}
        reads = all_reads(World(people, [self.post.public, self.hers.public]))
        seen = answers(self.callers[self.bob].client, reads)
        return {
            read: [(status, PUBLIC_COUNTS.sub(b"", body), link) for status, body, link in pages]
            for read, pages in seen.items()
        }


@pytest.fixture
def community(world, settings) -> Community:
    settings.QUOTA_PER_ACCOUNT = 1_000_000
    return Community()


def acts_of_ann(community: Community) -> dict[str, Any]:
    act, post = partial(community.act, community.ann), f"statuses/{community.post.public}"
    reply = {"status": "a reply", "in_reply_to_id": community.post.public}
    return {
        "favourite": lambda: act(f"{post}/favourite"),
        "repost": lambda: act(f"{post}/reblog"),
        "reply": lambda: act("statuses", reply),
        "post": lambda: act("statuses", {"status": "nothing for bob"}),
        "follow": lambda: act(f"accounts/{community.cat}/follow", {"quiet": True}),
    }


def test_acts_of_the_blocker_change_nothing_that_the_blocked_reads(community):
    """From act to act what bob reads stays the same, so the first answers are those of all."""
    before = community.seen_by_bob()
    for name, act in acts_of_ann(community).items():
        act()
        drain_all()
        after = community.seen_by_bob()
        assert [read for read, pages in before.items() if after[read] != pages] == [], name


WRITES = ["reblog", "unreblog", "favourite", "unfavourite", "bookmark", "unbookmark"]


def writes_to(post: PostId, account_id: int) -> list[tuple[str, Any]]:
    """Every write that names a post, and its body."""
    acts = [(f"statuses/{post.public}/{verb}", None) for verb in WRITES]
    reply = {"status": "an answer", "in_reply_to_id": post.public}
    report = {"account_id": str(account_id), "status_ids": [post.public]}
    return [*acts, ("statuses", reply), ("reports", report)]


def test_writes_to_a_hidden_post_answer_as_if_it_did_not_exist(community):
    hidden, absent = publish(community.ann), PostId(7, community.ann, 1)
    drain_all()
    caller = community.callers[community.bob]
    for to_hidden, to_absent in zip(
        writes_to(hidden, community.ann), writes_to(absent, community.ann), strict=True
    ):
        one, other = (caller.post(f"/api/v1/{path}", body) for path, body in (to_hidden, to_absent))
        assert masked(one, hidden) == masked(other, absent), to_hidden
    for post in (hidden, absent):
        assert caller.delete(f"/api/v1/statuses/{post.public}").status_code == 404


def masked(answer: Any, post: PostId) -> tuple[int, bytes]:
    """The status and the body, without what differs between any two requests."""
    body = answer.content.replace(post.public.encode(), b"POST")
    return answer.status_code, re.sub(rb'"(id|created_at)":"[^"]*"', b"", body, count=2)
