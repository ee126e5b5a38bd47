"""Pages of responses through HTTP: threads, responders, own marks, and filtered author pages."""

import pytest
from django.test import Client
from mastodon.return_types import Context
from mastodon.types_base import try_cast

from posts.actions.delete_post import delete_post
from posts.cache import newest
from posts.ids import PostId
from posts.queries import context
from relations.actions.block import block, unblock
from relations.actions.mute import mute, unmute
from tests.callers import Caller, ids_of, next_link
from tests.integration.posts.interacting import STATUSES, do, reply
from tests.world import make_accounts, publish


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
