"""`in:library`: the posts that an account wrote, favourited, bookmarked, reposted or voted in.

An answer that lacks a shard says so: to clients by a header, to people by a sentence.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from infra.caching.client import redis
from infra.sharding import scatter as module
from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import execute
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, undo_repost
from posts.actions.vote import vote
from posts.queries import library
from posts.types import Draft, Kind, NewPoll, Visibility
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused
from tests.integration.pages.browsing import Browser
from tests.people import cast
from tests.plans import nodes_of, rows_handled
from tests.world import drain_all, make_account, publish

PATH = "/api/v2/search"


people = cast(4)


def texts(me, q, **query):
    answer = me.get(PATH, {"q": q, "type": "statuses", **query})
    assert answer.status_code == 200, answer.content
    found = [status["content"] for status in answer.json()["statuses"]]
    return [text.removeprefix("<p>").removesuffix("</p>") for text in found]


@pytest.fixture
def marked(people):
    """A post of each kind, and one with which I have nothing to do."""
    mine, *others = people
    now = int(time.time())
    poll = NewPoll(("a", "b"), False, False, now + 600)
    drafts = {
        "unrelated": (others[0], {}), "favourited": (others[1], {}),
        "bookmarked": (others[2], {}), "reposted": (others[0], {}),
        "voted": (others[1], {"poll": poll}), "written": (mine, {"visibility": Visibility.PRIVATE}),
    }  # fmt: skip
    posts = {
        name: create_post(author, Draft(f"tea {name}", **more), clock_s=lambda n=n: now - 60 + n)
        for n, (name, (author, more)) in enumerate(drafts.items())
    }
    mark_post(mine, posts["favourited"], Kind.FAVOURITE, True)
    mark_post(mine, posts["bookmarked"], Kind.BOOKMARK, True)
    repost(mine, posts["reposted"])
    vote(mine, posts["voted"], [0])
    drain_all()
    return posts


def test_it_has_each_kind_and_nothing_else(me, marked):
    kinds = ["written", "voted", "reposted", "bookmarked", "favourited"]
    assert texts(me, "tea in:library") == [f"tea {kind}" for kind in kinds]
    assert texts(me, "in:library") == texts(me, "tea IN:LIBRARY")
    assert texts(me, "in:library voted") == ["tea voted"]
    assert texts(me, "in:library -voted", limit=2) == ["tea written", "tea reposted"]
    assert texts(me, "in:library has:poll") == ["tea voted"]
    assert texts(me, "in:library from:me") == ["tea written"]
    assert texts(me, "in:library after:2100-01-01") == []
    assert texts(me, "tea in:library", limit=2, offset=2) == ["tea reposted", "tea bookmarked"]
    older = marked["reposted"].public
    assert texts(me, "tea in:library", max_id=older) == ["tea bookmarked", "tea favourited"]
    assert texts(me, "tea in:library", min_id=older) == ["tea written", "tea voted"]
    assert len(texts(me, "tea in:public")) == 5, "of all public posts"


def test_what_is_taken_back_or_gone_is_not_there(me, people, marked):
    mine = people[0]
    mark_post(mine, marked["favourited"], Kind.FAVOURITE, False)
    undo_repost(mine, marked["reposted"])
    delete_post(marked["bookmarked"])
    delete_post(marked["written"])
    assert texts(me, "tea in:library") == ["tea voted"]


def test_others_see_their_own_library(people, marked):
    assert texts(Caller(people[1]), "in:library") == ["tea reposted", "tea unrelated"]
    assert texts(Caller(None), "in:library") == []


def test_posts_that_i_may_not_see_any_more_are_left_out(me, people, marked):
    mine, first, second, third = people
    follow(mine, second)
    private = create_post(second, Draft("tea private", visibility=Visibility.PRIVATE))
    mark_post(mine, private, Kind.BOOKMARK, True)
    update_profile(third, ProfileEdit(is_indexable=False))
    drain_all()
    assert texts(me, "in:library private") == ["tea private"]
    before = texts(me, "in:library")
    assert "tea bookmarked" in before, "its author is not to be found by searches of others"
    block(second, mine)
    assert set(before) - set(texts(me, "in:library")) == {
        text for text in before if text.endswith(("private", "favourited", "voted"))
    }
    mute(mine, first)
    assert "tea reposted" not in texts(me, "in:library")


def test_its_opposite_is_refused(me):
    assert_refused(me.get(PATH, {"q": "tea -in:library"}), 422)


def test_the_bound_holds_and_costs_are_one_query_a_shard(me, people, monkeypatch):
    monkeypatch.setattr(library, "MOST_OF_A_KIND", 2)
    posts = [publish(people[1], f"tea {n}") for n in range(5)]
    for post in posts:
        mark_post(people[0], post, Kind.BOOKMARK, True)
    drain_all()
    assert texts(me, "in:library") == ["tea 4", "tea 3"]
    with count_calls() as calls:
        texts(me, "in:library")
    sent = [statement.sql for statement in calls.statements if "posts_viewermark" in statement.sql]
    assert len(sent) == 1
    asked = [statement for statement in calls.statements if "library" in statement.sql]
    assert len(asked) == len({shard_of(account) for account in range(1, 100)})


def test_many_favourites_leave_the_bookmarks_in_the_library(me, people, monkeypatch):
    monkeypatch.setattr(library, "MOST_OF_A_KIND", 2)
    posts = [publish(people[1], f"tea {n}") for n in range(5)]
    for post, kind in zip(posts, [Kind.BOOKMARK] * 2 + [Kind.FAVOURITE] * 3, strict=True):
        mark_post(people[0], post, kind, True)
    drain_all()
    assert texts(me, "in:library") == ["tea 4", "tea 3", "tea 1", "tea 0"]


def test_of_a_voter_the_newest_votes_are_read_only(me, people, monkeypatch):
    monkeypatch.setattr(library, "MOST_OF_A_KIND", 5)
    alias = shard_of(people[1])
    publish(people[1])  # or no vote is joined
    columns = "author_id, moment, voter_id, choices"
    votes = f"INSERT INTO posts_pollvote ({columns}) SELECT %s, n, %s, '{{0}}' FROM "
    execute(alias, f"{votes} generate_series(1, 2000) AS n", (people[1], people[0]))
    execute(alias, "ANALYZE posts_pollvote")
    with count_calls() as calls:
        texts(me, "in:library")
    search = next(s for s in calls.statements if s.alias == alias and "AS voted" in s.sql)
    scans = [n for n in nodes_of(search) if n.get("Index Name") == "poll_vote_of_voter"]
    assert [rows_handled(scan) for scan in scans] == [5]


PATHS = (
    *(f"/api/v2/search?q=may&type={kind}" for kind in ("accounts", "statuses", "hashtags")),
    "/api/v2/search?q=may",
    "/api/v1/accounts/search?q=may",
    "/api/v1/accounts/search?q=may&following=true",
    "/api/v2/suggestions",
    "/api/v1/suggestions",
)
HEADER = "Tideline-Incomplete"


@pytest.fixture
def away(ann: int) -> str:
    """The shard of one of two friends."""
    friends = [make_account(name) for name in ("ben", "cora", "dan")]
    for friend in friends:
        follow(ann, friend)
    drain_all()
    assert len({*map(shard_of, friends)}) > 1
    return shard_of(friends[0])


@pytest.fixture
def lose(monkeypatch: pytest.MonkeyPatch, away: str) -> Callable[[], None]:
    """From now on this shard does not answer searches."""

    def fail() -> Any:
        raise OperationalError("away")

    def scatter_without(calls: Mapping[str, Any]) -> Any:
        lost = {away: partial(module._try, fail)} if away in calls else {}
        return scatter({**calls, **lost})

    return lambda: monkeypatch.setattr(module, "scatter", scatter_without)


def test_answers_that_lack_a_shard_say_so(ann: int, lose: Callable[[], None]) -> None:
    caller = Caller(ann)
    assert not [path for path in PATHS if HEADER in caller.get(path).headers]
    redis().call("FLUSHDB")  # what was found is kept for some seconds
    lose()
    answers = {path: caller.get(path) for path in PATHS}
    assert {answer.status_code for answer in answers.values()} == {200}
    assert {path: answer.headers.get(HEADER) for path, answer in answers.items()} == dict.fromkeys(
        PATHS, "true"
    )


def test_what_some_shards_found_is_not_kept(ann: int, lose: Callable[[], None]) -> None:
    caller, path = Caller(ann), "/api/v2/search?q=may&type=statuses"
    lose()
    assert [caller.get(path).headers.get(HEADER) for _ in range(2)] == ["true", "true"]


def test_the_page_does_not_say_that_there_is_nothing(ann: int, lose: Callable[[], None]) -> None:
    browser = Browser(ann)
    assert "Nothing matches" in browser.read("/search?q=xyzzy")
    lose()
    page = browser.read("/search?q=xyzzy")
    assert "Part of the site does not answer" in page and "Nothing matches" not in page
    assert "there may be more people" in browser.read("/search")
