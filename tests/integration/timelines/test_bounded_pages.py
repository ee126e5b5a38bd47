"""A page between two cursors: `min_id` and `max_id` in one request bound it on both sides."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest

from relations.actions.follow import follow
from tests.callers import Caller, ids_of, next_link
from tests.world import drain_all, make_account, make_accounts, publish

ITEMS = 5


@pytest.fixture
def busy(world: None) -> int:
    """An account with followees, followers, posts, favourites and a list."""
    busy, others, now = make_account(), make_accounts(ITEMS), time.time()
    caller = Caller(busy)
    list_id = caller.post("/api/v1/lists", {"title": "all"}).json()["id"]
    for n, other in enumerate(others):
        follow(busy, other)
        follow(other, busy)
        publish(busy, clock_s=lambda n=n: now - 100 + n)
        post = publish(other, clock_s=lambda n=n: now - 50 + n)
        drain_all()
        caller.post(f"/api/v1/statuses/{post.public}/favourite")
    caller.post(f"/api/v1/lists/{list_id}/accounts", {"account_ids": list(map(str, others))})
    drain_all()
    return busy


def test_both_cursors_bound_a_page(busy: int) -> None:
    for path in [
        "/api/v1/timelines/home",
        "/api/v1/timelines/public",
        "/api/v1/timelines/list/{list}",
        "/api/v1/accounts/{me}/statuses",
        "/api/v1/accounts/{me}/followers",
        "/api/v1/accounts/{me}/following",
        "/api/v1/favourites",
    ]:
        caller = Caller(busy)
        (list_,) = ids_of(caller.get("/api/v1/lists"))
        path = path.format(me=busy, list=list_)
        ids, cursors = walk(caller, path)
        inside = caller.get(f"{path}?max_id={cursors[0]}&min_id={cursors[3]}")
        assert ids_of(inside) == ids[1:3], path
        assert ids_of(caller.get(f"{path}?max_id={cursors[3]}&min_id={cursors[0]}")) == [], path


def walk(caller: Caller, path: str) -> tuple[list[str], list[str]]:
    """The first ids of a list, newest first, and the cursor of each."""
    ids: list[str] = []
    cursors: list[str] = []
    while len(ids) < ITEMS - 1:
        after = f"&max_id={cursors[-1]}" if cursors else ""
        answer = caller.get(f"{path}?limit=1{after}")
        ids += ids_of(answer)
        cursors += parse_qs(urlsplit(next_link(answer) or "").query)["max_id"]
    return ids, cursors
