"""Catch-up over HTTP: all that arrived since the marker, grouped, up to a bound."""

import time
from collections.abc import Callable

import pytest

from infra.caching.client import redis
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.ids import EPOCH, PostId
from posts.types import Draft, NewPoll
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.callers import Caller, ids_of, next_link
from tests.integration.timelines.catching_up import (
    CATCH_UP,
    MARKERS,
    finish,
    mark,
    read_all,
    unread,
)
from tests.integration.timelines.indexed import arrive_on_time
from tests.integration.timelines.test_around import walk
from tests.world import drain_all, make_account, make_accounts, publish
from timelines.catch_up import count, pages
from timelines.catch_up.types import Bound
from timelines.recent import replicated
from timelines.types import ENTRY_BYTES

HOME = "/api/v1/timelines/home"


class CatchUpScene:
    """I follow a talker, two others and a quiet account. Each post is a second later."""

    def __init__(self) -> None:
        self.me, self.talker, self.ann, self.bob, self.rare, self.far = make_accounts(6)
        self.caller, self.second = Caller(self.me), 100
        for other in (self.talker, self.ann, self.bob, self.rare):
            follow(self.me, other)
        drain_all()

    def clock_s(self) -> float:
        self.second += 1
        return EPOCH + self.second

    def post(self, author: int, draft: Draft | None = None) -> str:
        made = create_post(author, draft or Draft("hello"), clock_s=self.clock_s)
        drain_all()
        return made.public

    def repost(self, account: int, post: str) -> str:
        event = repost(account, PostId.from_public(post), clock_s=self.clock_s)
        drain_all()
        return event.public

    def is_unread(self) -> int:
        return unread(self.caller)[0]


@pytest.fixture
def scene(world: None, monkeypatch: pytest.MonkeyPatch) -> CatchUpScene:
    """Nothing is on its way here, so a bound needs no margin."""
    monkeypatch.setattr(replicated, "MARGIN_MS", 0)
    return CatchUpScene()


def test_who_posts_seldom_is_first_and_reposts_by_several_are_on_top(scene: CatchUpScene) -> None:
    old = scene.post(scene.talker)
    arrive_on_time()
    mark(scene.caller, old)
    far = scene.post(scene.far)
    talk = [scene.post(scene.talker) for _ in range(3)]
    rare = scene.post(scene.rare)
    scene.repost(scene.ann, far)
    together = scene.repost(scene.bob, far)
    alone = scene.repost(scene.ann, scene.post(scene.far))
    scene.post(scene.me)
    for limit in (40, 2):
        read = read_all(scene.caller, limit=limit)
        assert read.together == [together]
        assert read.groups == [
            (str(scene.ann), [alone]),
            (str(scene.rare), [rare]),
            (str(scene.talker), talk[::-1]),
        ]
        sizes = [(page["statuses_count"], page["accounts_count"]) for page in read.pages]
        assert set(sizes) == {(6, 3)}
        assert {page["since_id"] for page in read.pages} == {old}
    (group,) = read.pages[-1]["groups"]
    assert (group["is_continued"], group["statuses_count"]) == (True, 3)
    (on_top,) = read.pages[0]["reblogged_together"]
    assert {one["id"] for one in on_top["reblogged_by"]} == {str(scene.ann), str(scene.bob)}
    assert scene.is_unread() == 6


def test_the_bound_is_fixed_and_done_moves_the_marker_to_it(scene: CatchUpScene) -> None:
    shown = [scene.post(author) for author in (scene.ann, scene.bob, scene.rare)]
    first = scene.caller.get(CATCH_UP, {"limit": 1})
    later = scene.post(scene.talker)
    read = read_all(scene.caller, limit=1, bound=first.json()["bound"])
    assert sorted(read.ids) == shown
    marker = finish(scene.caller, read.bound)
    assert (marker["last_read_id"], marker["version"]) == (shown[-1], 1)
    assert finish(scene.caller, read.bound) == marker, "twice is once"
    again = read_all(scene.caller)
    assert (again.ids, scene.is_unread()) == ([later], 1)
    finish(scene.caller, again.bound)
    assert (read_all(scene.caller).ids, scene.is_unread()) == ([], 0)
    assert finish(scene.caller, read.bound)["last_read_id"] == later, "it never moves back"


def test_a_post_that_arrives_late_is_unread_below_the_marker(scene: CatchUpScene) -> None:
    scene.post(scene.ann)
    finish(scene.caller, read_all(scene.caller).bound)
    scene.second -= 50
    late = scene.post(scene.bob)
    read = read_all(scene.caller)
    assert (read.ids, scene.is_unread()) == ([late], 1)
    scene.second -= 50
    later = scene.post(scene.bob)
    assert read_all(scene.caller, bound=read.bound).ids == [late]
    finish(scene.caller, read.bound)
    read = read_all(scene.caller)
    assert (read.ids, scene.is_unread()) == ([later], 1)
    finish(scene.caller, read.bound)
    assert (read_all(scene.caller).ids, scene.is_unread()) == ([], 0)


def test_marker_of_another_client_counts_from_the_arrival_of_its_entry(
    scene: CatchUpScene,
) -> None:
    """A post that arrived a second before it was read."""
    scene.second = int(time.time()) - EPOCH - 10
    scene.post(scene.bob)
    newest = scene.post(scene.ann)
    arrive_on_time()
    mark(scene.caller, newest)
    assert scene.is_unread() == 0
    scene.second -= 5
    late = scene.post(scene.bob)
    assert (read_all(scene.caller).ids, scene.is_unread()) == ([late], 1)


def test_what_arrived_late_before_a_marker_is_read_when_it_is_set(scene: CatchUpScene) -> None:
    """The client has shown all of it; the marker's entry itself arrived an hour ago."""
    scene.second = int(time.time()) - EPOCH - 3_600
    for _ in range(3):
        scene.post(scene.bob)
    newest = scene.post(scene.ann)
    arrive_on_time()
    scene.second -= 60
    late = [scene.post(scene.bob) for _ in range(3)]
    assert {*late, newest} <= {*ids_of(scene.caller.get(HOME))}
    mark(scene.caller, newest)
    assert (read_all(scene.caller).ids, scene.is_unread()) == ([], 0)


@pytest.mark.parametrize(
    ("query", "left_out"),
    [
        ({"exclude_replies": True}, {"reply"}),
        ({"exclude_reblogs": True}, {"repost"}),
        ({"exclude_replies": True, "exclude_reblogs": True}, {"reply", "repost"}),
    ],
)
def test_replies_and_reposts_can_be_left_out(
    scene: CatchUpScene, query: dict[str, object], left_out: set[str]
) -> None:
    """A post that was also reposted keeps its own place."""
    post = scene.post(scene.ann)
    parent = PostId.from_public(post)
    made = {
        "post": post,
        "reply": scene.post(scene.bob, Draft("so?", in_reply_to=parent)),
        "to_oneself": scene.post(scene.ann, Draft("so!", in_reply_to=parent)),
        "repost": scene.repost(scene.bob, scene.post(scene.far)),
    }
    again = scene.repost(scene.rare, post)
    expected = {made[name] for name in made.keys() - left_out}
    if "repost" not in left_out:
        expected = expected - {post} | {again}
    assert set(read_all(scene.caller, limit=1, **query).ids) == expected


def test_above_the_maximum_it_says_where_the_rest_is(
    scene: CatchUpScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_ENTRIES", 3)
    monkeypatch.setattr(count, "MOST_COUNTED", 4)
    old = scene.post(scene.ann)
    arrive_on_time()
    mark(scene.caller, old)
    made = [scene.post(scene.ann) for _ in range(5)]
    read = read_all(scene.caller, limit=2)
    assert read.ids == made[:1:-1]
    left_out = read.pages[0]["left_out"]
    assert left_out == {"max_id": made[2], "min_id": old}
    assert ids_of(scene.caller.get(HOME, left_out)) == made[1::-1]
    assert unread(scene.caller) == (4, True)
    mark(scene.caller, made[0])
    assert unread(scene.caller) == (4, False)


def test_entries_below_the_live_timeline_are_there(
    tiny_timelines: None, scene: CatchUpScene
) -> None:
    scene.caller.get(HOME)
    for n in range(20):
        publish((scene.ann, scene.bob)[n % 2], clock_s=scene.clock_s)
    drain_all()
    read = read_all(scene.caller, limit=40)
    assert (len(read.ids), len(set(read.ids))) == (20, 20)
    plain, caught_up = (min_calls(scene, f"{path}?limit=40") for path in (HOME, CATCH_UP))
    assert caught_up.total() <= plain.total() + 2
    mark(scene.caller, "0")
    assert scene.is_unread() == 20


def test_what_is_gone_between_two_pages_is_left_out_and_nothing_else(scene: CatchUpScene) -> None:
    """Each order of the remaining groups would be another one now."""
    first = [scene.post(author) for author in (scene.ann, scene.ann, scene.rare)]
    talk = [scene.post(scene.talker) for _ in range(4)]
    scene.post(scene.bob)
    answer = scene.caller.get(CATCH_UP, {"limit": 2})
    for gone in talk[1:]:
        delete_post(PostId.from_public(gone))
    mute(scene.me, scene.ann)
    rest = scene.caller.get(answer["Link"].split(">")[0][len("<http://localhost:8000") :]).json()
    shown = [one["id"] for group in rest["groups"] for one in group["statuses"]]
    assert shown == [talk[0]]
    assert first[2] in str(answer.json())


def test_pages_go_on_without_the_kept_order(scene: CatchUpScene) -> None:
    for author in (scene.ann, scene.bob, scene.rare, scene.talker, scene.talker):
        scene.post(author)
    whole = read_all(scene.caller).ids
    answer = scene.caller.get(CATCH_UP, {"limit": 2})
    redis().call("FLUSHDB")
    after = answer["Link"].partition("after_id=")[2].partition(">")[0]
    bound = answer.json()["bound"]
    rest = scene.caller.get(CATCH_UP, {"bound": bound, "after_id": after}).json()
    assert [one["id"] for group in rest["groups"] for one in group["statuses"]] == whole[2:]


def test_an_order_that_was_damaged_cut_or_made_for_another_reader_is_not_used(
    scene: CatchUpScene,
) -> None:
    """It would look like a whole one: without some entries, or with others."""
    follow(other := make_account(), scene.talker)
    for author in (scene.ann, scene.bob, scene.rare, scene.talker, scene.talker):
        scene.post(author)
    first = scene.caller.get(CATCH_UP, {"limit": 2})
    second, bound = next_link(first), first.json()["bound"]
    right = scene.caller.get(second).json()
    assert Caller(other).get(CATCH_UP, {"limit": 1, "bound": bound}).status_code == 200
    kept = {key: redis().call("GET", key) for key in redis().call("KEYS", "timelines.catch_up*")}
    [mine] = [key for key in kept if b"{%d}" % scene.me in key]
    [others] = kept.keys() - {mine}
    value = kept[mine]
    damaged = [value[:n] + bytes([value[n] ^ 1]) + value[n + 1 :] for n in range(0, len(value), 9)]
    entries = value[-ENTRY_BYTES:], value + value[-ENTRY_BYTES:], value[: -2 * ENTRY_BYTES]
    for planted in [*damaged, *entries, value[:-ENTRY_BYTES], value[:60], kept[others], b"", b"x"]:
        redis().call("SET", mine, planted)
        assert scene.caller.get(second).json() == right, planted


@pytest.mark.parametrize("hide", [mute, block])
def test_rules_of_home_hold(scene: CatchUpScene, hide: Callable[[int, int], object]) -> None:
    kept = scene.post(scene.ann)
    scene.post(scene.bob)
    hidden = publish(scene.far)
    scene.repost(scene.rare, hidden.public)
    hide(scene.me, scene.bob)
    hide(scene.me, scene.far)
    assert read_all(scene.caller).ids == [kept]
    mark(scene.caller, "0")
    assert scene.is_unread() == 1


POLL = NewPoll(("flies", "Spiders"), False, False, 2**31)


@pytest.mark.parametrize("draft", [Draft("about spiders"), Draft("which?", poll=POLL)])
def test_a_filter_that_hides_leaves_posts_out_of_both(scene: CatchUpScene, draft: Draft) -> None:
    kept = scene.post(scene.ann)
    scene.post(scene.bob, draft)
    mark(scene.caller, "0")
    for action in ("hide", "warn"):
        sent = {"title": "x", "context": ["home"], "filter_action": action}
        sent |= {"keywords_attributes": [{"keyword": "spiders"}]}
        assert scene.caller.post("/api/v2/filters", sent).status_code == 200
        assert read_all(scene.caller).ids == [kept]
        assert scene.is_unread() == 1


def test_it_costs_two_queries_more_than_a_home_page(scene: CatchUpScene) -> None:
    for n in range(24):
        publish((scene.ann, scene.bob)[n % 2], clock_s=scene.clock_s)
    drain_all()
    plain = min_calls(scene, HOME)
    assert min_calls(scene, CATCH_UP).total() <= plain.total() + 2
    bound = read_all(scene.caller).bound
    finish(scene.caller, bound)
    drain_all()
    assert min_calls(scene, f"{MARKERS}?timeline[]=home").total() <= plain.total() + 2


def min_calls(scene: CatchUpScene, path: str):
    scene.caller.get(path)
    with count_calls() as calls:
        scene.caller.get(path)
    return calls.sql


def test_what_is_no_catch_up_is_refused(scene: CatchUpScene) -> None:
    for query in [
        {"bound": "x"},
        {"bound": "0" * 47},
        {"bound": "-" * 46},
        {"bound": "É" * 46},
        {"after_id": "7"},
        {"bound": "0" * 46, "after_id": "x"},
        {"bound": "0" * 46, "after_id": "7"},
        {"limit": "x"},
        {"exclude_replies": "maybe"},
    ]:
        answer = scene.caller.get(CATCH_UP, query)
        assert (answer.status_code, "error" in answer.json()) == (422, True), query


def test_made_up_bounds_are_harmless(scene: CatchUpScene) -> None:
    post = scene.post(scene.ann)
    backwards = Bound(PostId(5, 1, 1), PostId(3, 1, 1), 9, 7).text
    # A time in the future is of a clock that went back: what arrived in the last hour is shown.
    texts = {"0" * 46: [], backwards: [], "z" * 46: [post], "0" * 14 + "z" * 32: [post]}
    for bound, shown in texts.items():
        assert read_all(scene.caller, bound=bound).ids == shown
        assert scene.caller.post(CATCH_UP, {"bound": bound}).status_code == 200
    for sent in ({}, {"bound": ""}, {"bound": 7}, {"bound": "x" * 46 + "\n"}):
        assert scene.caller.post(CATCH_UP, sent).status_code == 422


def test_the_marker_page_and_the_count_agree(scene: CatchUpScene) -> None:
    """The cursors of a walk are markers too."""
    for n in range(6):
        publish((scene.ann, scene.bob, scene.me)[n % 3], clock_s=scene.clock_s)
    drain_all()
    arrive_on_time()
    ids, _ = walk(scene.caller, HOME)
    mark(scene.caller, ids[2])
    around = ids_of(scene.caller.get(HOME, {"around_id": ids[2], "limit": 4}))
    assert around == ids[:4]
    own = {post for post in ids[:2] if PostId.from_public(post).author_id == scene.me}
    assert scene.is_unread() == 2 - len(own)
