"""Lists with entries that the viewer may not see: full pages, and a link only if there is more."""

import json
from functools import partial
from itertools import chain

from infra.api import base36
from infra.api.pages import Window
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.queries import lists, row_pages
from posts.queries.lists import list_marked, list_responders
from posts.types import Kind
from relations.actions.block import block
from tests.budgets import count_calls
from tests.world import drain_all, make_accounts, publish


def marked(ann: int, count: int) -> list:
    """So many posts of others, bookmarked in turn; every other one is gone since."""
    author = make_accounts(1)[0]
    posts = [publish(author) for _ in range(count)]
    for at_s, post in enumerate(posts):
        mark_post(ann, post, Kind.BOOKMARK, True, clock_s=partial(float, at_s))
    for post in posts[::2]:
        delete_post(post)
    return posts[1::2]


def ids_of(page) -> list[str]:
    return [json.loads(body)["id"] for body in page.items]


def walk(read, limit: int) -> list[list[str]]:
    """Ids page by page, along the older cursors."""
    page = read(Window(limit))
    pages = [ids_of(page)]
    while page.older:
        page = read(Window(limit, max_id=page.older))
        pages.append(ids_of(page))
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
    assert ids_of(page) == left[4:1:-1]
    assert ids_of(list_marked(ann, Kind.BOOKMARK, Window(9, min_id=page.newer))) == left[:4:-1]


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
    assert (ids_of(first), first.older is None) == ([], False)
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
        pages, cursor = [*pages, ids_of(page)], page.newer
    assert ids_of(list_marked(ann, Kind.BOOKMARK, Window(9))) == [newest.public, *left]
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
