"""A load that began before a change: readers from after the change do not get what it read.

A load that ends after a change writes nothing, also if Redis lost data in between.

Each family of loaded entries is changed after its loader read the source, and before it writes.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, NamedTuple

import pytest
from django.db import connections

from accounts.actions.tokens import end_tokens_of_user
from accounts.actions.update_profile import update_profile
from accounts.cache import profiles
from accounts.queries.tokens import find_token
from accounts.types import ProfileEdit, Restriction
from counters.cache import account_counts
from infra.api.pages import Window
from infra.caching import hashes, lists, loads_in_progress, relationship_cache, values
from infra.caching.client import redis
from infra.caching.questions import answer
from infra.caching.single import SingleClient
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.cache.by_post import number_of
from posts.cache.counts import post_counts
from posts.cache.viewer_state import viewer_states
from posts.cache.weeks import ask_weeks
from posts.ids import PostId
from posts.types import Kind
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST, EdgeList, list_page
from relations.queries.following import load_following
from relations.queries.relationships import load_relationships
from relations.types import FollowOptions
from tests.callers import token_of
from tests.herd import READS, Subject, forget_copies, hold_writes, lose, make_subject
from tests.world import drain_all, forget_memory, make_account, make_accounts, publish, restrict
from timelines.hot.actions.heat import heat_author
from timelines.hot.directory import HotAuthors
from timelines.hot.entries import push_hot_entries
from timelines.tags.actions.own_tags import add_own_tag, choose_at_home
from timelines.tags.types import TagListKind
from timelines.types import Entry


def _heat(subject: Subject) -> None:
    heat_author(shard_of(subject.author), subject.author)
    publish(subject.author)


# Nothing delays a reader before it is held.
HELD_WITHIN_S = 20


def _post_hot(subject: Subject) -> None:
    push_hot_entries({subject.author: [Entry.of_post(publish(subject.author))]})


def _follow_tag(subject: Subject) -> None:
    choose_at_home(subject.viewer, True)
    add_own_tag(subject.viewer, TagListKind.FOLLOWED, "tea")


CHANGES: Mapping[str, Callable[[Subject], object]] = {
    "accounts.profile": lambda s: restrict(s.author, Restriction.SUSPENDED),
    "accounts.actor": lambda s: restrict(s.author, Restriction.SUSPENDED),
    "accounts.token": lambda s: end_tokens_of_user(s.viewer),
    "counters.account": lambda s: follow(make_account(), s.author),
    "posts.counts": lambda s: mark_post(s.viewer, s.post_id, Kind.FAVOURITE, True),
    "posts.viewer_state": lambda s: mark_post(s.viewer, s.post_id, Kind.FAVOURITE, True),
    "posts.week": lambda s: delete_post(s.post_id),
    "relations.following": lambda s: follow(s.viewer, make_account()),
    "relations.followers": lambda s: follow(make_account(), s.author),
    "relations.quiet": lambda s: follow(s.viewer, make_account()),
    "relations.relationship": lambda s: unfollow(s.viewer, s.author),
    "timelines.home": lambda s: publish(s.author),
    "timelines.hot": _heat,
    "timelines.hot_entries": _post_hot,
    "timelines.home_tags": _follow_tag,
    "timelines.tag_entries": lambda s: publish(s.author, "#tea"),
}


@pytest.fixture
def subject(world: None) -> Subject:
    return make_subject()


@pytest.mark.parametrize("family", CHANGES)
def test_no_reader_from_after_a_change_gets_what_was_read_before(
    family: str, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(family, subject)
    forget_copies()
    with _slow_reader(family, subject, monkeypatch):
        CHANGES[family](subject)
        drain_all()
        forget_copies()
        after = _read(family, subject)
    forget_copies()
    stored = _read(family, subject)
    lose(family, subject)
    forget_copies()
    truth = _read(family, subject)
    assert (after, stored) == (truth, truth)


@contextmanager
def _slow_reader(family: str, subject: Subject, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Inside the block another thread has read the source, and does not write the entry.

    It goes on when a thread waits for it.
    """

    def read() -> None:
        try:
            READS[family](subject)
        finally:
            connections.close_all()

    may_end = threading.Event()
    wait = loads_in_progress._wait
    patch.setattr(loads_in_progress, "_wait", lambda ended: (may_end.set(), wait(ended)))
    slow = threading.Thread(target=read)
    with hold_writes(slow, may_end) as is_held:
        slow.start()
        assert is_held.wait(HELD_WITHIN_S)
        yield
        may_end.set()
        slow.join()


def _read(family: str, subject: Subject) -> object:
    found = READS[family](subject)
    if isinstance(found, HotAuthors):  # the validator is random
        return sorted(found.ids)
    return found


WRITES = {one.WRITE.sha for one in (lists, hashes, values, relationship_cache)}


class Town(NamedTuple):
    """Ann follows Bob; Bob wrote a post; Ann has a token."""

    ann: int
    bob: int
    post: PostId
    token: str


class Case(NamedTuple):
    """`read`: what a reader gets, by the caches. `change`: what somebody does."""

    name: str
    read: Callable[[Town], Any]
    change: Callable[[Town], object]


def members(edge_list: EdgeList, owner: int) -> Sequence[int]:
    return [one.account_id for one in list_page(edge_list, owner, Window(40)).items]


def follow_quietly(town: Town) -> None:
    follow(town.ann, town.bob, FollowOptions(quiet=True))


def favourite(town: Town) -> None:
    mark_post(town.ann, town.post, Kind.FAVOURITE, True)
    drain_all()


def unfollow_and_drain(town: Town) -> None:
    unfollow(town.ann, town.bob)
    drain_all()


def read_post(town: Town) -> Any:
    return answer(ask_weeks([town.post], time.time()))


def read_counts(town: Town) -> Any:
    return post_counts.load_many([number_of(town.post)])


def read_token(town: Town) -> Any:
    return find_token(sha256(town.token.encode()).hexdigest(), lambda: None)


CASES = [
    Case("following", lambda t: members(FOLLOWING_LIST, t.ann), lambda t: unfollow(t.ann, t.bob)),
    Case("quiet", lambda t: members(FOLLOWING_LIST, t.ann), follow_quietly),
    Case("followees", lambda t: load_following(t.ann), lambda t: unfollow(t.ann, t.bob)),
    Case("followers", lambda t: members(FOLLOWERS_LIST, t.bob), unfollow_and_drain),
    Case("week", read_post, lambda t: delete_post(t.post)),
    Case("post counts", read_counts, favourite),
    Case("counts", lambda t: account_counts.load_many([t.ann]), lambda t: unfollow(t.ann, t.bob)),
    Case("viewer state", lambda t: viewer_states.load_many([t.ann]), favourite),
    Case(
        "profile",
        lambda t: profiles.load_many([t.bob]),
        lambda t: update_profile(t.bob, ProfileEdit(display_name="Robert")),
    ),
    Case(
        "relationship",
        lambda t: load_relationships(t.ann, [t.bob]),
        lambda t: block(t.ann, t.bob),
    ),
    Case("token", read_token, lambda t: end_tokens_of_user(t.ann)),
]


def nothing() -> None:
    """Redis loses nothing."""


def flush() -> None:
    redis().call("FLUSHDB")


def expire_short_lived() -> None:
    """A minute passes: what Redis keeps for a minute or less is gone."""
    for name in redis().call("KEYS", "*"):
        if redis().call("PTTL", name) <= 60_000:
            redis().call("DEL", name)


@pytest.fixture
def town(world: None) -> Town:
    ann, bob = make_accounts(2)
    follow(ann, bob)
    town = Town(ann, bob, publish(bob), token_of(ann))
    drain_all()
    forget_memory()
    return town


@contextmanager
def before_the_write(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> Iterator[list]:
    """Runs `act` once, when a loader is about to write what it read. Yields the writes."""
    run, held = SingleClient.run, []

    def run_late(client: SingleClient, commands: Sequence[Any]) -> list[Any]:
        if not held and any(one[0] == "EVALSHA" and one[1] in WRITES for one in commands):
            held.append(commands)
            act()
        return run(client, commands)

    with monkeypatch.context() as patch:
        patch.setattr(SingleClient, "run", run_late)
        yield held


@pytest.mark.parametrize(
    "loss", [nothing, flush, expire_short_lived], ids=lambda loss: loss.__name__
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_load_from_before_a_change_is_not_cached(
    town: Town, case: Case, loss: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    redis().call("FLUSHDB")

    def change_and_lose() -> None:
        case.change(town)
        loss()

    with before_the_write(monkeypatch, change_and_lose) as held:
        before = case.read(town)
    assert held, "the load wrote nothing, so this test shows nothing"
    forget_memory()
    cached = case.read(town)
    redis().call("FLUSHDB")
    forget_memory()
    truth = case.read(town)
    assert cached == truth
    assert truth != before or case.name == "token", "the change changes nothing"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_load_without_any_event_is_cached(town: Town, case: Case) -> None:
    redis().call("FLUSHDB")
    before = set(redis().call("KEYS", "*"))
    found = case.read(town)
    assert set(redis().call("KEYS", "*")) > before
    assert not redis().call("KEYS", "*:load"), "the token goes with the write"
    assert case.read(town) == found
