"""Accounts that a viewer may not see are absent from lists: no entry, no id in a cursor.

An account that is blocked gets the same bytes as if the blocker had done nothing.

By difference: every endpoint answers the same before and after acts of the blocker. Every write
answers the same for a post of the blocker and for a post that does not exist.
"""

import re
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest

from accounts.types import Restriction
from infra.api import base36
from posts.ids import PostId
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.queries import shown_lists
from relations.queries.edge_lists import CURSOR_DIGITS
from relations.types import FollowOptions
from tests.callers import Caller, ids_of, next_link
from tests.reads import OF_THE_SITE, World, all_reads, answers
from tests.world import drain_all, make_account, make_accounts, publish, restrict

ACCOUNTS = "/api/v1/accounts"
LISTS = ("followers", "following")
# How many of five members are hidden, from the newest on.
HIDDEN = ([0], [4], [1, 3], [0, 1, 2, 3], [3, 4], [0, 1, 2, 3, 4])
# A page leaves out all of them in the same place, so one way is enough for all of HIDDEN.
WAYS = (
    *(("suspended", hidden) for hidden in HIDDEN),
    *((way, [1, 3]) for way in ("blocks me", "is blocked", "is muted")),
)


class Star:
    """`people` follow the star, and it follows them back. `viewer` asks."""

    def __init__(self, drain: Callable[[], int]) -> None:
        self.star, self.viewer, *self.people = make_accounts(7)
        for one in self.people:
            follow(one, self.star)
            follow(self.star, one, FollowOptions(endorsed=True))
        drain()

    def newest_first(self) -> list[int]:
        return self.people[::-1]


@pytest.fixture
def star(world: None, drain: Callable[[], int]) -> Star:
    return Star(drain)


def _pages(caller: Any, path: str, limit: int) -> list[Any]:
    pages, there = [], f"{path}?limit={limit}"
    while there:
        pages.append(caller.get(there))
        there = next_link(pages[-1])
    return pages


def _ids(pages: list[Any]) -> list[int]:
    return [int(text) for page in pages for text in ids_of(page)]


def _named(pages: list[Any]) -> set[int]:
    """The accounts whose ids are in the cursors of these pages."""
    times, digits = CURSOR_DIGITS
    links = "".join(page.get("Link", "") for page in pages)
    cursors = [part.partition(">")[0].partition("&")[0] for part in links.split("_id=")[1:]]
    return {base36.decode(cursor[times : times + digits]) for cursor in cursors}


@pytest.mark.parametrize(("way", "hidden"), WAYS, ids=str)
def test_hidden_members_leave_no_trace(
    star: Star, drain: Callable[[], int], hidden: list[int], way: str
) -> None:
    gone = [star.newest_first()[n] for n in hidden]
    for one in gone:
        if way == "suspended":
            restrict(one, Restriction.SUSPENDED)
        elif way == "blocks me":
            block(one, star.viewer)
        elif way == "is blocked":
            block(star.viewer, one)
        else:
            mute(star.viewer, one)
    drain()
    kept = [one for one in star.newest_first() if one not in gone]
    for name, limit in product((*LISTS, "endorsements"), (1, 2, 5)):
        pages = _pages(Caller(star.viewer), f"{ACCOUNTS}/{star.star}/{name}", limit)
        assert _ids(pages) == kept, (name, limit)
        named = _named(pages)
        assert named <= {*kept} and bool(named) is bool(kept), (name, limit)
        assert all(len(page.json()) == limit for page in pages[:-2]), "pages are full"


@pytest.mark.parametrize("name", LISTS)
def test_paging_up_shows_all_that_are_shown(star: Star, name: str) -> None:
    for one in (star.people[1], star.people[4]):
        block(one, star.viewer)
    caller, path, seen, cursor = Caller(star.viewer), f"{ACCOUNTS}/{star.star}/{name}", [], "1"
    for _ in range(5):
        page = caller.get(path, {"limit": 1, "min_id": cursor})
        if not page.json():
            break
        seen += _ids([page])
        cursor = page["Link"].partition("min_id=")[2].partition("&")[0].partition(">")[0]
    assert seen == [star.people[0], star.people[2], star.people[3]]


@pytest.mark.parametrize("direction", ["down", "up"])
def test_a_run_of_hidden_members_is_longer_than_a_page_examines(
    star: Star, direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cursor then has the time of the last one only."""
    monkeypatch.setattr(shown_lists, "MOST_BATCHES", 1)
    monkeypatch.setattr(shown_lists, "NEXT_BATCH", 1)
    ends = star.people[0] if direction == "down" else star.people[-1]
    for one in star.people:
        if one != ends:
            block(one, star.viewer)
    caller, path = Caller(star.viewer), f"{ACCOUNTS}/{star.star}/followers"
    query = "?limit=2" if direction == "down" else "?limit=2&min_id=1"
    pages = []
    for _ in range(6):
        page = caller.get(path + query)
        pages.append(page)
        if page.json():
            break
        mark = "max_id" if direction == "down" else "min_id"
        query = f"?limit=2&{mark}=" + page["Link"].partition(f"{mark}=")[2][:15]
    assert _ids(pages) == [ends]
    assert not _named(pages) & ({*star.people} - {ends})


def test_the_own_lists_show_muted_accounts_and_no_suspended_one(
    star: Star, drain: Callable[[], int]
) -> None:
    muted, suspended = star.people[4], star.people[3]
    mute(star.star, muted)
    restrict(suspended, Restriction.SUSPENDED)
    drain()
    me = Caller(star.star)
    for path in (f"{ACCOUNTS}/{star.star}/followers", f"{ACCOUNTS}/{star.star}/following"):
        pages = _pages(me, path, 1)
        assert _ids(pages) == [one for one in star.newest_first() if one != suspended]
        assert suspended not in _named(pages)
    assert _ids(_pages(me, "/api/v1/mutes", 1)) == [muted]


def test_who_is_blocked_by_the_owner_of_a_list_still_gets_an_answer(star: Star) -> None:
    block(star.star, star.viewer)
    answer = Caller(star.viewer).get(f"{ACCOUNTS}/{star.star}/followers")
    assert _ids([answer]) == star.newest_first()


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
            if read.path not in OF_THE_SITE
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
