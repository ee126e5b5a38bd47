"""Fan-outs of any size: every live follower has every entry, and no other reader has any."""

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from infra.caching.client import redis
from infra.changes.compensate import drain
from infra.changes.failpoints import arm, disarm
from infra.changes.lag import list_lane_lags
from infra.changes.lanes import LaneGroup, lane_of
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, fetch_all
from posts.actions.repost import repost
from posts.ids import PostId
from relations.actions.follow import follow
from relations.queries import followers as followers_module
from tests.budgets import count_calls
from tests.integration.timelines.drawn import examples
from tests.integration.timelines.many_followers import (
    each,
    entries_of,
    have,
    make_live,
    of_post,
    write_followers,
)
from tests.world import clean, drain_all, find_live, make_account, make_accounts, publish
from timelines.actions import fan_out
from timelines.types import Entry

KINDS = "SELECT kind, count(*) FROM changes_delivered GROUP BY kind"
PLACES = [
    "drain.before_delivery",
    "fan_out.page_pushed",
    "deliver.after_consumer",
    "drain.before_filing",
    "drain.before_commit",
    "drain.after_filing",
]


class Crash(BaseException):
    """The process is gone."""


def delivered_kinds(author_id: int) -> dict[str, int]:
    return dict(fetch_all(shard_of(author_id), KINDS))


@pytest.mark.parametrize("count", [0, 1, 4, 5])
def test_small_fan_outs_are_done_by_the_drain(small_pieces: Settings, count: int) -> None:
    author = make_account()
    crowd = write_followers(author, count)
    make_live(crowd)
    post = publish(author)
    drain_all()
    assert have(crowd) == each(crowd, post)
    assert "timelines.fan_out_begun" not in delivered_kinds(author)


@pytest.mark.parametrize(
    ("count", "begun", "chunks"),
    [(6, 1, 1), (10, 1, 2), (11, 1, 2), (29, 1, 3), (30, 2, 4), (31, 2, 4), (65, 3, 7)],
)
def test_big_ones_are_done_in_chunks(
    small_pieces: Settings, count: int, begun: int, chunks: int
) -> None:
    author = make_account()
    crowd = write_followers(author, count)
    live, asleep = crowd[::2], crowd[1::2]
    make_live(live)
    post = publish(author)
    drain_all()
    assert have(live) == each(live, post)
    assert have(asleep) == dict.fromkeys(asleep, None), "pushes make no reader live"
    kinds = delivered_kinds(author)
    assert kinds["timelines.fan_out_begun"] == begun
    assert kinds["timelines.chunk_cut"] == chunks


def test_posts_of_a_batch_go_together_and_reposts_are_reposts(small_pieces: Settings) -> None:
    author, other = make_accounts(2)
    crowd = write_followers(author, 12)
    make_live(crowd)
    original = publish(other)
    first, second = publish(author), publish(author)
    event = repost(author, original)
    drain_all()
    assert have(crowd) == dict.fromkeys(crowd, of_post(first, second) | {Entry(event, original)})
    assert delivered_kinds(author)["timelines.fan_out_begun"] == 1


def test_authors_of_a_batch_are_pushed_together(
    world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader of some of them has the posts of these. Authors are taken in groups of two here."""
    monkeypatch.setattr(fan_out, "AUTHORS_TOGETHER", 2)
    authors = [one for one in make_accounts(16) if shard_of(one) == "shard0"]
    readers = make_accounts(6)
    followed = {reader: authors[n % 3 :] for n, reader in enumerate(readers)}
    for reader, mine in followed.items():
        for author in mine:
            follow(reader, author)
    drain_all()
    make_live(readers)
    posts = {author: publish(author) for author in authors}
    entries = {author: [Entry.of_post(post)] for author, post in posts.items()}
    with count_calls() as calls:
        fan_out.fan_out(entries, all_aliases()[1:])
    assert calls.sql == {"shard0": 3, "shard1": 1, "shard2": 1, "shard3": 1}, "an index each"
    assert len(authors) == 4, "two groups"
    wanted = {one: of_post(*(posts[author] for author in followed[one])) for one in readers}
    assert have(readers) == wanted


@examples(6)
@given(st.integers(0, 50), st.integers(6, 25), st.integers(1, 12), st.integers(0, 2**32))
def test_whatever_the_sizes_and_crashes_all_live_followers_have_all_entries(
    small_pieces: Settings, count: int, chunk: int, page: int, seed: int
) -> None:
    rng = random.Random(seed)
    small_pieces.INLINE_FOLLOWERS, small_pieces.CHUNK_FOLLOWERS = rng.randint(1, 20), chunk
    followers_module.FOLLOWERS_A_PAGE = page
    clean()
    author = make_account()
    crowd = write_followers(author, count)
    live = [one for one in crowd if rng.random() < 0.7]
    make_live(live)
    drain_all()
    posts = [publish(author) for _ in range(rng.randint(1, 3))]
    drain_with_crashes(rng)
    assert have(live) == each(live, *posts)
    assert {one for one in crowd if entries_of(one) is not None} == set(live)


def drain_with_crashes(rng: random.Random) -> None:
    def perhaps() -> None:
        if rng.random() < 0.05:
            raise Crash

    for place in PLACES:
        arm(place, perhaps)
    try:
        while not is_drained_by(drain_once):
            pass
    finally:
        for place in PLACES:
            disarm(place)


def drain_once() -> None:
    for alias in all_aliases():
        for lag in list_lane_lags(alias):
            drain(alias, lag.lane)


def is_drained_by(drain_some: Callable[[], None]) -> bool:
    try:
        drain_some()
    except Crash:
        return False
    return not any(lag.pending for alias in all_aliases() for lag in list_lane_lags(alias))


def test_a_failed_chunk_is_tried_again_alone(
    small_pieces: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chunks before and after it are delivered in the meantime."""
    author = make_account()
    crowd = write_followers(author, 50)
    make_live(crowd)
    cursed = crowd[25]
    push = fan_out.push

    def refuse(entries: object, readers: Sequence[int], shards: object) -> None:
        if cursed in readers:
            raise ValueError("no")
        push(entries, readers, shards)  # type: ignore[arg-type]

    monkeypatch.setattr("timelines.actions.chunks.push", refuse)
    post = publish(author)
    drain_all()
    without = [one for one in crowd if entries_of(one) != of_post(post)]
    assert 1 <= len(without) <= 10
    assert cursed in without
    waiting = "SELECT kind, attempts FROM changes_change"
    assert fetch_all(shard_of(author), waiting) == [("timelines.chunk_cut", 1)]
    monkeypatch.undo()
    execute(shard_of(author), "UPDATE changes_change SET next_attempt_at = clock_timestamp()")
    drain_all()
    assert have(crowd) == each(crowd, post)


def test_a_big_fan_out_does_not_delay_small_ones(small_pieces: Settings) -> None:
    """In the same shard and lane only the lookup of followers comes before their changes."""
    star, *others = make_accounts(400)
    crowd = write_followers(star, 60)
    make_live(crowd)
    mine = (shard_of(star), lane_of(star))
    neighbour = next(one for one in others if (shard_of(one), lane_of(one)) == mine)
    friend = make_account()
    follow(friend, neighbour)
    drain_all()
    make_live([friend])
    publish(star)
    post = publish(neighbour)
    drain(*mine)
    assert entries_of(friend) == of_post(post)
    assert have(crowd) == each(crowd), "they have not begun"


def test_two_big_ones_take_turns_in_one_lane(small_pieces: Settings) -> None:
    small_pieces.BULK_LANES = 1
    star, *others = make_accounts(8)
    rival = next(one for one in others if shard_of(one) == shard_of(star))
    write_followers(star, 100)
    write_followers(rival, 100)
    publish(star)
    publish(rival)
    for lane in {lane_of(star), lane_of(rival)}:
        drain(shard_of(star), lane)
    drain(shard_of(star), LaneGroup.BULK, max_batches=15)
    turns = "SELECT owner_id FROM changes_delivered WHERE kind = 'timelines.chunk_cut' ORDER BY id"
    owners = [owner for (owner,) in fetch_all(shard_of(star), turns)]
    assert owners[:9] in (
        [star] * 3 + [rival] * 3 + [star] * 3,
        [rival] * 3 + [star] * 3 + [rival] * 3,
    )


def test_the_drain_pushes_to_the_author_only_if_the_request_did_not(world: None) -> None:
    (author,) = make_accounts(1)
    make_live([author])
    first = publish(author)
    drain_all()
    assert arrivals(author) == [first]
    second = publish(author)
    redis().run([("DEL", name) for name in redis().call("KEYS", "changes.done:*")])
    drain_all()
    assert arrivals(author) == [first, second, second]


def arrivals(reader: int) -> list[PostId]:
    """The events of a live timeline, with repeats."""
    live = find_live(reader)
    return [] if live is None else [entry.event for entry in Entry.split(live.data)]
