"""A storm over a few accounts: everything that moves counts, at once, by processes that die.

One act in twenty dies: before its commit, or behind it. One step of a drain in twenty dies. Of the
changes delivered one in twenty comes again, long after, and one out of order, before its turn.
Nobody may ever read a count below zero, and when all is delivered counts are the numbers of their
rows.
"""

import random
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from django.conf import settings
from django.db import transaction
from django.test import override_settings

from counters.cache import account_counts
from counters.queries.counts import load_counts, summarise
from counters.types import AccountCounts
from infra.changes import append
from infra.changes.batches import take_batch
from infra.changes.compensate import drain
from infra.changes.deliver import ChangeRow, deliver
from infra.changes.failpoints import arm, disarm
from infra.changes.lanes import all_lanes
from infra.sharding.buckets import shard_of
from posts.cache.by_post import number_of
from posts.cache.counts import post_counts
from tests.scenarios.background import Stop, threads
from tests.scenarios.storm_acts import ONE_TRANSACTION, Act, Acts

DEATHS = REPEATS = 0.05
PLACES = (
    "drain.before_delivery",
    "deliver.after_consumer",
    "relations.mirrored",
    "relations.mirrored_now",
    "relations.blocked",
    "posts.responses_recorded",
    "drain.before_filing",
    "drain.before_commit",
    "drain.after_filing",
)
# Each failpoint is passed several times in the life of a change.
DEATHS_AT_A_PLACE = DEATHS / 4
# Changes gather between the rounds of a drainer, and readers leave the CPU to those who write.
DRAIN_EVERY_S = 0.05
READ_EVERY_S = 0.05
# Changes that are remembered, of each shard, to come again.
MOST_PAST = 1_000


class Died(BaseException):
    """No `except Exception` sees it, and the database takes back what was not committed.

    Whole processes with all their sessions are killed by storm_worker.
    """


class Storm:
    """One process's part of it. What happened is in `seen`."""

    def __init__(self, people: Sequence[int], seed: int) -> None:
        self.seen: Counter[str] = Counter()
        self._people = people
        self._acts = Acts(people)
        self._past: defaultdict[str, list[ChangeRow]] = defaultdict(list)
        self._seed = seed
        self._mortal = threading.local()

    def rage(self, operations: int, writers: int, drainers: int) -> None:
        """Returns when all acts are done; changes are pending then. Raises what went wrong."""
        stop, share = Stop(), operations // writers
        beside = [partial(self._drain, self._random("drain", n), stop) for n in range(drainers)]
        beside.append(partial(self._read, self._random("read", 0), stop))
        acting = [partial(self._act, self._random("act", n), share, stop) for n in range(writers)]
        with (
            self._weather(),
            threads([partial(_or_stop, call, stop) for call in beside], stop),
            threads([partial(_or_stop, call, stop) for call in acting]),
        ):
            pass

    def _act(self, rng: random.Random, acts: int, stop: Stop) -> None:
        for _ in range(acts):
            if stop.is_set():
                return
            act = self._acts.draw(rng)
            self.seen[act.name] += 1
            with self._mortality(rng):
                if act.name in ONE_TRANSACTION and rng.random() < DEATHS:
                    self._die_before_commit(act)
                else:
                    self._mortal.dies_after_commit = rng.random() < DEATHS
                    act.call()

    def _die_before_commit(self, act: Act) -> None:
        """Its rows, its counts and its change are all written, and none of them stays."""
        with transaction.atomic(using=shard_of(act.actor_id)):
            act.call()
            self._die()

    def _drain(self, rng: random.Random, stop: Stop) -> None:
        owed = 0.0
        while not stop.wait(DRAIN_EVERY_S):
            alias, lane = rng.choice(settings.SHARD_ALIASES), rng.choice(all_lanes())
            with self._mortality(rng):
                self._deliver_early(alias, take_batch(alias, [lane]), rng)
                delivered = drain(alias, lane, max_batches=2).delivered
                self.seen["delivered"] += delivered
                owed += delivered * REPEATS
            if owed >= 1:
                owed -= self._deliver_again(alias, int(owed), rng)

    def _deliver_early(self, alias: str, rows: list[ChangeRow], rng: random.Random) -> None:
        """Some of the rows, in any order; they are not filed, so they come again in their turn."""
        some = rng.sample(rows, sum(rng.random() < REPEATS for _ in rows))
        if not some:
            return
        self.seen["out of order"] += len(some)
        self._remember(alias, some, rng)
        deliver(alias, some)

    def _deliver_again(self, alias: str, count: int, rng: random.Random) -> int:
        """Changes of any time until now; how many."""
        past = self._past[alias]
        some = rng.sample(past, min(count, len(past)))
        if some:
            self.seen["again"] += len(some)
            with self._mortality(rng):
                deliver(alias, some)
        return len(some)

    def _remember(self, alias: str, rows: Sequence[ChangeRow], rng: random.Random) -> None:
        past = self._past[alias]
        past += rows
        rng.shuffle(past)
        del past[MOST_PAST:]

    def _read(self, rng: random.Random, stop: Stop) -> None:
        """What anybody may read at any moment, from the shards and from the caches."""
        while not stop.wait(READ_EVERY_S):
            some = rng.sample(self._people, 5)
            for counts in load_counts(some).values():
                assert_sane(summarise(counts))
            for payload in account_counts.load_many(some).values():
                assert_sane(AccountCounts(*map(int, payload.split(b","))))
            posts = map(number_of, self._acts.known_posts())
            for payload in post_counts.load_many(posts).values():
                assert min(map(int, payload.split(b","))) >= 0
            self.seen["read"] += len(some)

    @contextmanager
    def _mortality(self, rng: random.Random) -> Iterator[None]:
        """Who dies here leaves what it had begun, and another goes on in its place."""
        self._mortal.rng = rng
        try:
            yield
        except Died:
            self.seen["died"] += 1
        finally:
            self._mortal.rng = None
            self._mortal.dies_after_commit = False

    @contextmanager
    def _weather(self) -> Iterator[None]:
        """Deaths at the failpoints, and behind the commits of acts."""
        serve = append.run_inline

        def serve_or_die(*args: Any) -> None:
            if getattr(self._mortal, "dies_after_commit", False):
                self._die()
            serve(*args)

        with ExitStack() as stack:
            for place in PLACES:
                arm(place, self._die_perhaps)
                stack.callback(disarm, place)
            stack.enter_context(patch.object(append, "run_inline", serve_or_die))
            stack.enter_context(override_settings(FOLLOWS_PER_DAY=10**9))
            yield

    def _die_perhaps(self) -> None:
        rng = getattr(self._mortal, "rng", None)
        if rng is not None and rng.random() < DEATHS_AT_A_PLACE:
            self._die()

    def _die(self) -> None:
        raise Died

    def _random(self, *what: object) -> random.Random:
        return random.Random(f"{self._seed} {what}")


def _or_stop(call: Callable[[], None], stop: Stop) -> None:
    """When one fails all stop: nobody would look at counts any more."""
    try:
        call()
    except BaseException:
        stop.set()
        raise


def assert_sane(counts: AccountCounts) -> None:
    assert min(counts) >= 0, counts
    assert counts.quiet_followers <= counts.followers, counts
    assert counts.quiet_following <= counts.following, counts
