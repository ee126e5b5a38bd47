"""Pages of responses through HTTP: threads, responders, own marks, and filtered author pages.

Lists with entries that the viewer may not see: full pages, and a link only if there is more.
"""

import json
from functools import partial
from itertools import chain

import pytest
from django.test import Client
from mastodon.return_types import Context
from mastodon.types_base import try_cast

from infra.api import base36
from infra.api.pages import Window
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.cache import newest
from posts.ids import PostId
from posts.queries import context, lists, row_pages
from posts.queries.lists import list_marked, list_responders
from posts.types import Kind
from relations.actions.block import block, unblock
from relations.actions.mute import mute, unmute
from tests.budgets import count_calls
from tests.callers import Caller, ids_of, next_link
from tests.integration.posts.interacting import STATUSES, do, reply
from tests.world import drain_all, make_accounts, publish


@pytest.mark.parametrize("is_old", [False, True])
def test_replies_to_oneself_are_no_replies(people, me, you, original, is_old, monkeypatch):
    if is_old:  # below the list in process memory: the shard lists them
        monkeypatch.setattr(newest, "MOST_LISTED", 1)
    first = publish(people[1]).public
    thread = [reply(you, first)["id"]]
    thread.append(reply(you, thread[0])["id"])
    to_ann = reply(you, original)["id"]
    page = f"/api/v1/accounts/{people[1]}/statuses"
    for reader in (me, you):
        found = ids_of(reader.get(page, {"exclude_replies": "true"}))
        assert found == [*thread[::-1], first]
        assert ids_of(reader.get(page)) == [to_ann, *found]
    for pinned in (thread[0], to_ann):
        do(you, "pin", pinned)
    assert ids_of(me.get(page, {"pinned": "1", "exclude_replies": "1"})) == [thread[0]]
    if not is_old:  # only posts on the list are added before the public list is made again
        assert ids_of(you.get("/api/v1/timelines/public")) == [*thread[::-1], first]


def test_author_pages_leave_kinds_out_and_are_full(people, me, you, original):
    gone = [publish(people[0]) for _ in range(6)]
    kept = [reply(you, original)["id"] for _ in range(2)]
    plain = publish(people[1]).public
    for post in gone:
        do(you, "reblog", post.public)
    event = do(you, "reblog", original)["id"]
    for post in gone:
        delete_post(post)
    page = f"/api/v1/accounts/{people[1]}/statuses"
    assert ids_of(you.get(page, {"limit": 2})) == [event, plain]
    assert ids_of(you.get(page, {"exclude_replies": "true"})) == [event, plain]
    without = {"exclude_reblogs": "true"}
    assert ids_of(you.get(page, without)) == [plain, *kept[::-1]]
    assert ids_of(you.get(page, without | {"exclude_replies": "1"})) == [plain]


def test_context_goes_up_to_the_root_and_down_depth_first(people, me, you, original, drain):
    a = reply(you, original, "a")["id"]
    b = reply(you, original, "b")["id"]
    aa = reply(me, a, "aa")["id"]
    ab = reply(me, a, "ab")["id"]
    aaa = reply(you, aa, "aaa")["id"]
    drain()

    def around(post: str, caller: Caller = you):
        found = caller.get(f"{STATUSES}/{post}/context").json()
        return [[status["id"] for status in found[part]] for part in ("ancestors", "descendants")]

    assert around(original) == [[], [a, aa, aaa, ab, b]]
    assert around(aaa) == [[original, a, aa], []]
    assert around(original, Client()) == [[], [a, aa, aaa, ab, b]]
    assert isinstance(try_cast(Context, you.get(f"{STATUSES}/{a}/context").json()), Context)
    delete_post(PostId.from_public(aa))
    for _ in range(2):  # before the drain and after it
        assert around(original) == [[], [a, aaa, ab, b]], "what is below a deleted post stays"
        assert around(aaa) == [[original, a], []]
        drain()
    block(people[0], people[1])
    assert around(a) == [[], [aaa]], "a blocked account still sees its own posts"


def test_muted_accounts_are_left_out_as_in_mastodon(people, me, you, original, drain):
    """Of the thread and of the lists of who did it; not for others, and not when the mute ends."""
    muted, other = make_accounts(2)
    theirs = reply(Caller(muted), original)["id"]
    below = reply(you, theirs)["id"]
    for who in (muted, other):
        do(Caller(who), "reblog", original)
        do(Caller(who), "favourite", original)
    drain()

    def seen(caller: Caller):
        found = caller.get(f"{STATUSES}/{original}/context").json()["descendants"]
        lists = [
            {*ids_of(caller.get(f"{STATUSES}/{original}/{way}"))}
            for way in ("reblogged_by", "favourited_by")
        ]
        return [status["id"] for status in found], *lists

    everything = ([theirs, below], *[{str(other), str(muted)}] * 2)
    assert seen(me) == everything
    mute(people[0], muted)
    assert seen(me) == ([below], *[{str(other)}] * 2)
    assert seen(you) == everything
    unmute(people[0], muted)
    assert seen(me) == everything


def test_context_is_bounded(people, you, original, monkeypatch, drain):
    chain = [original]
    for _ in range(6):
        chain.append(reply(you, chain[-1])["id"])
    drain()
    monkeypatch.setattr(context, "FOR_GUESTS", context.Bounds(2, 4, 3))
    anybody = Client()
    up = anybody.get(f"{STATUSES}/{chain[6]}/context").json()["ancestors"]
    assert [status["id"] for status in up] == chain[4:6]
    down = anybody.get(f"{STATUSES}/{original}/context").json()["descendants"]
    assert [status["id"] for status in down] == chain[1:4], "three deep"
    for _ in range(6):
        reply(you, original)
    drain()
    down = anybody.get(f"{STATUSES}/{original}/context").json()["descendants"]
    assert len(down) == 4


def test_lists_of_who_did_it_are_paged_the_latest_first(people, me, original, drain):
    others = make_accounts(5)
    for other in others:
        do(Caller(other), "reblog", original)
        do(Caller(other), "favourite", original)
    drain()
    for name in ("reblogged_by", "favourited_by"):
        found, path = [], f"{STATUSES}/{original}/{name}?limit=2"
        while path:
            answer = me.get(path)
            found += ids_of(answer)
            path = next_link(answer)
        assert sorted(found) == sorted(map(str, others))
        newest = me.get(f"{STATUSES}/{original}/{name}?limit=2")
        cursor = newest["Link"].split("min_id=")[1].split(">")[0]
        assert ids_of(me.get(f"{STATUSES}/{original}/{name}?min_id={cursor}")) == []
        block(people[0], others[0])
        assert str(others[0]) not in ids_of(me.get(f"{STATUSES}/{original}/{name}"))
        unblock(people[0], others[0])


@pytest.mark.parametrize(("act", "path"), [("favourite", "favourites"), ("bookmark", "bookmarks")])
def test_own_lists_are_paged_the_latest_first(act, path, people, you):
    posts = [publish(people[0]).public for _ in range(5)]
    order = [posts[2], posts[4], posts[0], posts[3], posts[1]]
    for post in order:
        do(you, act, post)
    delete_post(PostId.from_public(posts[0]))
    found, link, pages = [], f"/api/v1/{path}?limit=2", 0
    while link:
        answer = you.get(link)
        found += ids_of(answer)
        link, pages = next_link(answer), pages + 1
    # Marks of one millisecond order by post.
    assert sorted(found) == sorted(set(posts) - {posts[0]})
    assert pages == 2
    assert ids_of(Caller(people[2]).get(f"/api/v1/{path}")) == []
    do(you, f"un{act}", posts[1])
    assert posts[1] not in ids_of(you.get(f"/api/v1/{path}"))


def marked(ann: int, count: int) -> list:
    """So many posts of others, bookmarked in turn; every other one is gone since."""
    author = make_accounts(1)[0]
    posts = [publish(author) for _ in range(count)]
    for at_s, post in enumerate(posts):
        mark_post(ann, post, Kind.BOOKMARK, True, clock_s=partial(float, at_s))
    for post in posts[::2]:
        delete_post(post)
    return posts[1::2]


def ids_on(page) -> list[str]:
    return [json.loads(body)["id"] for body in page.items]


def walk(read, limit: int) -> list[list[str]]:
    """Ids page by page, along the older cursors."""
    page = read(Window(limit))
    pages = [ids_on(page)]
    while page.older:
        page = read(Window(limit, max_id=page.older))
        pages.append(ids_on(page))
    return pages


def test_pages_are_full_though_half_of_what_was_marked_is_gone(ann):
    left = [post.public for post in marked(ann, 14)]
    pages = walk(partial(list_marked, ann, Kind.BOOKMARK), 3)
    assert [len(page) for page in pages] == [3, 3, 1]
    assert list(chain(*pages)) == left[::-1]


def test_newer_pages_are_full_too_and_are_those_right_above(ann):
    left = [post.public for post in marked(ann, 14)]
    oldest = list_marked(ann, Kind.BOOKMARK, Window(6)).older
    page = list_marked(ann, Kind.BOOKMARK, Window(3, min_id=oldest))
    assert ids_on(page) == left[4:1:-1]
    assert ids_on(list_marked(ann, Kind.BOOKMARK, Window(9, min_id=page.newer))) == left[:4:-1]


def test_no_link_leads_to_what_cannot_be_seen(ann):
    """Three are left, and a gone one is the oldest."""
    marked(ann, 6)
    assert list_marked(ann, Kind.BOOKMARK, Window(3)).older is None
    assert list_marked(ann, Kind.BOOKMARK, Window(2)).older is not None


def test_list_that_nobody_may_see_is_walked_in_bounded_steps(ann, monkeypatch):
    monkeypatch.setattr(row_pages, "MOST_BATCHES", 2)
    monkeypatch.setattr(row_pages, "NEXT_BATCH", 3)
    author = make_accounts(1)[0]
    post = publish(author)
    responders = make_accounts(9)
    for at_s, responder in enumerate(responders):
        mark_post(responder, post, Kind.FAVOURITE, True, clock_s=partial(float, at_s))
    drain_all()
    for responder in responders[1:]:
        block(ann, responder)
    read = partial(list_responders, post, Kind.FAVOURITE, ann)
    first = read(Window(2))
    assert (ids_on(first), first.older is None) == ([], False)
    assert walk(read, 2) == [[], [str(responders[0])]]
    hidden = {base36.encode(responder, lists.WHO_DIGITS) for responder in responders[1:]}
    assert first.older[lists.WHEN_DIGITS :] not in hidden


def test_newer_pages_that_nobody_may_see_lead_on_too(ann, monkeypatch):
    """Of the cursor after them the client learns a time, and no account."""
    monkeypatch.setattr(row_pages, "MOST_BATCHES", 2)
    monkeypatch.setattr(row_pages, "NEXT_BATCH", 3)
    left = [post.public for post in marked(ann, 2)]
    bottom = list_marked(ann, Kind.BOOKMARK, Window(1)).newer
    author = make_accounts(1)[0]
    gone = [publish(author) for _ in range(8)]
    for at_s, post in enumerate(gone, start=10):
        mark_post(ann, post, Kind.BOOKMARK, True, clock_s=partial(float, at_s))
    newest = publish(author)
    mark_post(ann, newest, Kind.BOOKMARK, True, clock_s=partial(float, 99))
    for post in gone:
        delete_post(post)
    pages, cursor = [], bottom
    while cursor:
        page = list_marked(ann, Kind.BOOKMARK, Window(2, min_id=cursor))
        pages, cursor = [*pages, ids_on(page)], page.newer
    assert ids_on(list_marked(ann, Kind.BOOKMARK, Window(9))) == [newest.public, *left]
    assert pages == [[], [newest.public], []]


def test_cursors_name_only_what_is_shown(ann):
    """Hidden rows at both ends of a page."""
    post = publish(make_accounts(1)[0])
    responders = make_accounts(5)
    for at_s, responder in enumerate(responders):
        mark_post(responder, post, Kind.FAVOURITE, True, clock_s=partial(float, at_s))
    drain_all()
    for responder in (responders[0], responders[2], responders[4]):
        block(responder, ann)
    drain_all()
    read = partial(list_responders, post, Kind.FAVOURITE, ann)
    pages = [read(Window(1)), read(Window(2)), read(Window(1, min_id="0"))]
    cursors = [cursor for page in pages for cursor in (page.older, page.newer) if cursor]
    named = {base36.decode(cursor[lists.WHEN_DIGITS :]) for cursor in cursors}
    assert named == {responders[1], responders[3]}


def test_full_first_page_costs_one_query_of_the_list(ann):
    author = make_accounts(1)[0]
    post = publish(author)
    for responder in make_accounts(6):
        mark_post(responder, post, Kind.FAVOURITE, True)
    drain_all()
    with count_calls() as calls:
        assert len(list_responders(post, Kind.FAVOURITE, ann, Window(3)).items) == 3
    asked = [one for one in calls.statements if "FROM posts_response" in one.sql]
    assert len(asked) == 1
