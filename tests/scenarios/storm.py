"""A storm over a few accounts: everything that moves counts, at once, by processes that die.

One act in twenty dies: before its commit, or behind it. One step of a drain in twenty dies. One
batch in twenty comes twice, and one out of order. Nobody may ever read a count below zero, and when
all is delivered counts are the numbers of their rows.
"""

import random
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any
from unittest.mock import patch

from django.conf import settings
from django.db import connections, transaction
from django.test import override_settings

from counters.cache import account_counts
from counters.queries.counts import load_counts, summarise
from counters.types import AccountCounts
from infra.changes import append
from infra.changes.append import all_lanes
from infra.changes.deliver import Row, deliver
from infra.changes.drain import drain, take_batch
from infra.changes.failpoints import arm, disarm
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, take_back_repost
from posts.count_cache import number_of, post_counts
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.types import Kind
from relations.actions.block import block, unblock
from relations.actions.follow import follow, remove_follower, unfollow
from relations.errors import CannotFollowBlocked
from relations.types import FollowWish
from tests.scenarios.background import Stop, threads
from tests.world import publish

DEATHS = REPEATS = 0.05
PLACES = (
    "drain.before_delivery",
    "deliver.after_consumer",
    "relations.mirrored",
    "relations.mirrored_at_once",
    "relations.blocked",
    "posts.responses_recorded",
    "drain.before_filing",
    "drain.before_commit",
    "drain.after_filing",
)
# Each failpoint is passed several times in the life of a change.
DEATHS_AT_A_PLACE = DEATHS / 4
DELIVERED = """
SELECT id, kind, owner_id, payload, created_at, 0 FROM changes_delivered
ORDER BY random() LIMIT 20
"""
ACTS = {
    "follow": 30,
    "follow_quietly": 10,
    "unfollow": 20,
    "remove_follower": 5,
    "block": 5,
    "unblock": 5,
    "publish": 15,
    "delete": 10,
    "favourite": 10,
    "unfavourite": 5,
    "repost": 5,
    "take_back": 3,
}


# Acts that are one transaction: only those can be cut off before its commit from out here.
ONE_TRANSACTION = ("follow", "follow_quietly", "unfollow", "publish", "favourite", "repost")


class Died(BaseException):
    """As kill -9 has it: no `except Exception` sees it, and the session of the database is gone."""


class Storm:
    """What happened is in `seen`."""

    def __init__(self, people: Sequence[int], operations: int, seed: int) -> None:
        self.people = people
        self.operations = operations
        self.seed = seed
        self.seen: Counter[str] = Counter()
        self._posts: deque[PostId] = deque(maxlen=200)
        self._mortal = threading.local()

    def rage(self, writers: int = 4, drainers: int = 2) -> None:
        """Returns when all acts are done; changes are pending then. Raises what went wrong."""
        stop, share = Stop(), self.operations // writers
        beside = [partial(self._drain, self._random("drain", n), stop) for n in range(drainers)]
        beside.append(partial(self._read, self._random("read", 0), stop))
        acting = [partial(self._act, self._random("act", n), share) for n in range(writers)]
        with self._weather(), threads(beside, stop), threads(acting):
            pass

    def _act(self, rng: random.Random, acts: int) -> None:
        for _ in range(acts):
            name = rng.choices(list(ACTS), list(ACTS.values()))[0]
            act = partial(getattr(self, f"_{name}"), *rng.sample(self.people, 2))
            self.seen[name] += 1
            with self._mortality(rng):
                if name in ONE_TRANSACTION and rng.random() < DEATHS:
                    self._die_before_commit(act, rng)
                else:
                    self._mortal.dies_after_commit = rng.random() < DEATHS
                    act()

    def _follow(self, one: int, other: int) -> None:
        with suppress(CannotFollowBlocked):
            follow(one, other)

    def _follow_quietly(self, one: int, other: int) -> None:
        with suppress(CannotFollowBlocked):
            follow(one, other, FollowWish(quiet=True))

    def _unfollow(self, one: int, other: int) -> None:
        unfollow(one, other)

    def _remove_follower(self, one: int, other: int) -> None:
        remove_follower(one, other)

    def _block(self, one: int, other: int) -> None:
        block(one, other)

    def _unblock(self, one: int, other: int) -> None:
        unblock(one, other)

    def _publish(self, one: int, _: int) -> None:
        self._posts.append(publish(one))

    def _delete(self, *_: int) -> None:
        with suppress(IndexError, PostNotFound):
            delete_post(self._posts.popleft())

    def _favourite(self, one: int, _: int) -> None:
        for post in self._some_posts(one):
            mark_post(one, post, Kind.FAVOURITE, True)

    def _unfavourite(self, one: int, _: int) -> None:
        for post in self._some_posts(one):
            mark_post(one, post, Kind.FAVOURITE, False)

    def _repost(self, one: int, _: int) -> None:
        for post in self._some_posts(one):
            repost(one, post)

    def _take_back(self, one: int, _: int) -> None:
        for post in self._some_posts(one):
            take_back_repost(one, post)

    def _some_posts(self, one: int) -> list[PostId]:
        """One post, if there is any; few, so that the same accounts come back to them."""
        posts = list(self._posts)[:10]
        return [posts[one % len(posts)]] if posts else []

    def _die_before_commit(self, act: Callable[[], None], rng: random.Random) -> None:
        """Its rows, its counts and its change are all written, and none of them stays."""
        alias = shard_of(act.args[0])  # type: ignore[attr-defined]
        with transaction.atomic(using=alias):
            act()
            self._die()

    def _drain(self, rng: random.Random, stop: Stop) -> None:
        while not stop.is_set():
            alias, lane = rng.choice(settings.SHARD_ALIASES), rng.choice(all_lanes())
            with self._mortality(rng):
                drain(alias, lane)
            if rng.random() < REPEATS:
                self._deliver(alias, [Row(*row) for row in fetch_all(alias, DELIVERED)], rng)
            if rng.random() < REPEATS:
                self._deliver(alias, take_batch(alias, lane), rng)

    def _deliver(self, alias: str, rows: list[Row], rng: random.Random) -> None:
        """Some of the rows, in any order; they are not filed, so they come (again) later."""
        some = rng.sample(rows, len(rows) // 2)
        self.seen["delivered twice or out of order"] += len(some)
        with self._mortality(rng):
            deliver(alias, some)

    def _read(self, rng: random.Random, stop: Stop) -> None:
        """What anybody may read at any moment, from the shards and from the caches."""
        while not stop.wait(0.005):
            some = rng.sample(self.people, 5)
            for counts in load_counts(some).values():
                assert_sane(summarise(counts))
            for payload in account_counts.load_many(some).values():
                assert_sane(AccountCounts(*map(int, payload.split(b","))))
            for payload in post_counts.load_many(map(number_of, list(self._posts)[:10])).values():
                assert min(map(int, payload.split(b","))) >= 0
            self.seen["read"] += len(some)

    @contextmanager
    def _mortality(self, rng: random.Random) -> Iterator[None]:
        """Who dies here is gone with the sessions it had; another goes on in its place."""
        self._mortal.rng = rng
        try:
            yield
        except Died:
            self.seen["died"] += 1
            connections.close_all()
        finally:
            self._mortal.rng = None
            self._mortal.dies_after_commit = False

    @contextmanager
    def _weather(self) -> Iterator[None]:
        """Deaths at the failpoints, and behind the commits of acts."""
        serve = append._serve_at_once

        def serve_or_die(*args: Any) -> None:
            if getattr(self._mortal, "dies_after_commit", False):
                self._die()
            serve(*args)

        with ExitStack() as stack:
            for place in PLACES:
                arm(place, self._die_perhaps)
                stack.callback(disarm, place)
            stack.enter_context(patch.object(append, "_serve_at_once", serve_or_die))
            stack.enter_context(override_settings(FOLLOWS_PER_DAY=10**9))
            yield

    def _die_perhaps(self) -> None:
        rng = getattr(self._mortal, "rng", None)
        if rng is not None and rng.random() < DEATHS_AT_A_PLACE:
            self._die()

    def _die(self) -> None:
        raise Died

    def _random(self, *what: object) -> random.Random:
        return random.Random(f"{self.seed} {what}")


def assert_sane(counts: AccountCounts) -> None:
    assert min(counts) >= 0, counts
    assert counts.quiet_followers <= counts.followers, counts
    assert counts.quiet_following <= counts.following, counts
