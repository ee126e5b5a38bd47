"""A service that keeps all promises, in memory, and the histories of its clients.

A write takes effect at a moment between its begin and its answer. Others see it a little later. A
write of unknown outcome takes effect once, perhaps after its client gave up, or never.
"""

import random
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count, islice

from lab.faults.history.calls import ClientCall, Kind, Seen
from lab.faults.history.entries import poster_of

Pair = tuple[int, int]
LATEST = 50
# Much more than is written between two polls of a client.
MOST_POLLED = 500
ALL = 0  # the key of the posts of all accounts
WEIGHTS: dict[Kind, int] = {
    "post": 20,
    "delete": 5,
    "repost": 8,
    "unrepost": 4,
    "follow": 12,
    "unfollow": 6,
    "block": 2,
    "unblock": 2,
    "mute": 2,
    "unmute": 2,
    "home": 25,
    "poll": 15,
    "relationship": 8,
    "counts": 5,
}


@dataclass
class Entry:
    seen: Seen
    visible_s: float
    gone: bool = False


class View:
    """One side's view of edges: the write with the latest effect wins."""

    def __init__(self) -> None:
        self._values: dict[Pair, tuple[float, bool]] = {}

    def write(self, pair: Pair, value: bool, effect_s: float) -> None:
        if effect_s >= self._values.get(pair, (effect_s, value))[0]:
            self._values[pair] = (effect_s, value)

    def of(self, *pair: int) -> bool:
        return self._values.get((pair[0], pair[1]), (0.0, False))[1]

    def pairs(self) -> set[Pair]:
        return {pair for pair, (_, value) in self._values.items() if value}


@dataclass
class SimulatedState:
    """What the service answers when it is quiet."""

    homes: dict[int, list[Seen]] = field(default_factory=dict)
    statuses: dict[int, list[Seen]] = field(default_factory=dict)
    followers: dict[int, list[int]] = field(default_factory=dict)
    following: dict[int, list[int]] = field(default_factory=dict)
    counts: dict[int, dict[str, int]] = field(default_factory=dict)
    relationships: dict[Pair, dict[str, int]] = field(default_factory=dict)


@dataclass
class Client:
    number: int
    account: int
    free_s: float = 0.0
    got: set[int] = field(default_factory=set)
    newest: int = 0
    next_max_id: int | None = None


@dataclass
class SimulatedService:
    """`delay_s`: others see a write so much later at most. `unknown_ratio`: of all calls."""

    rng: random.Random
    accounts: int = 4
    delay_s: float = 0.5
    unknown_ratio: float = 0.1
    is_sequential: bool = False
    calls: list[ClientCall] = field(default_factory=list)
    entries: dict[int, Entry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.own = {name: View() for name in ("follows", "blocks", "mutes")}
        self.others = {name: View() for name in ("follows", "blocks")}
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._visible_s: dict[int, float] = defaultdict(float)
        self._sequence = count()
        self._ids: list[int] = []  # of all entries, the lowest first
        self._posts: dict[int, list[int]] = defaultdict(list)
        self._reposts: dict[Pair, int] = {}  # account, post: the live entry
        self._post_counts: dict[int, int] = defaultdict(int)
        people = range(1, self.accounts + 1)
        clients = [(account, number) for account in people for number in range(2)]
        self.clients = [Client(i, account) for i, (account, _) in enumerate(clients)]
        self.now_s = 0.0

    def run(self, steps: int) -> list[ClientCall]:
        """So many calls. Sequential: each begins when everything before it is visible."""
        for _ in range(steps):
            client = self.rng.choice(self.clients)
            pause_s = self.delay_s * 2 + 0.1 if self.is_sequential else 0.0
            latest_s = max(one.free_s for one in self.clients) if self.is_sequential else 0.0
            began_s = max(client.free_s, latest_s, self.now_s) + pause_s
            began_s += self.rng.uniform(0.001, 0.3)
            self._call(client, began_s)
            self.now_s += 0.0 if self.is_sequential else self.rng.uniform(0, 0.2)
        self._advance(float("inf"))
        return sorted(self.calls, key=lambda call: call.ended_s)

    def state(self) -> SimulatedState:
        """Call it after `run`."""
        state, people = SimulatedState(), range(1, self.accounts + 1)
        for one in people:
            others = [other for other in people if other != one]
            state.relationships |= {(one, other): self._facts(one, other) for other in others}
            flags = {other: state.relationships[one, other] for other in others}
            state.following[one] = [other for other in others if flags[other]["following"]]
            state.followers[one] = [other for other in others if flags[other]["followed_by"]]
            state.homes[one] = [*self._home(one, float("inf"), None)]
            state.statuses[one] = self._statuses(one)
            state.counts[one] = self._counts(one)
        return state

    def _statuses(self, account: int) -> list[Seen]:
        """An account does not see its reposts of an account that blocks it, or that it blocks."""
        own = [self.entries[one].seen for one in reversed(self._ids)]
        return [
            seen
            for seen in own
            if poster_of(seen) == account
            and not self.entries[seen.entry].gone
            and not self.entries[seen.post].gone
            and not self.own["blocks"].of(account, seen.author)
            and not self._is_blocked(account, seen.author)
        ]

    def _call(self, client: Client, began_s: float) -> None:
        kind = self.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        ended_s = began_s + self.rng.uniform(0.002, 0.3)
        client.free_s = ended_s
        effect_s = self.rng.uniform(began_s, ended_s)
        call = ClientCall(client.number, client.account, kind, began_s, ended_s, "ok", 200)
        if self.rng.random() < self.unknown_ratio:
            call = replace(call, outcome="unknown", status=0)
            effect_s += self.rng.choice([0.0, 1.0, 5.0])
            if self.rng.random() < 0.5:
                self.calls.append(self._aimed(call))
                return
        self._at(effect_s, lambda: self._take_effect(client, call, effect_s))

    def _aimed(self, call: ClientCall) -> ClientCall:
        """The call with the target that its kind needs."""
        if call.kind in ("delete", "repost", "unrepost"):
            return replace(call, target=self._some_post(call))
        if call.kind in ("post", "home", "poll", "counts"):
            return call
        others = [one for one in range(1, self.accounts + 1) if one != call.account]
        return replace(call, target=self.rng.choice(others))

    def _some_post(self, call: ClientCall) -> int | None:
        """One of the latest posts; of the account's own, if it is to be deleted."""
        posts = self._posts[call.account if call.kind == "delete" else ALL][-LATEST:]
        return self.rng.choice(posts) if posts else None

    def _at(self, time_s: float, action: Callable[[], None]) -> None:
        heappush(self._events, (time_s, next(self._order), action))

    def _advance(self, until_s: float) -> None:
        while self._events and self._events[0][0] <= until_s:
            heappop(self._events)[2]()

    def _take_effect(self, client: Client, call: ClientCall, effect_s: float) -> None:
        call = self._aimed(call)
        if call.kind in ("delete", "repost", "unrepost") and call.target is None:
            return
        if call.kind in ("post", "repost"):
            call = self._write_entry(call, effect_s)
        elif call.kind in ("delete", "unrepost"):
            self._remove(call, effect_s)
        elif call.kind in ("home", "poll"):
            call = self._read_home(client, call, effect_s)
        elif call.kind == "relationship":
            call = replace(call, facts=self._facts(call.account, call.target or 0))
        elif call.kind == "counts":
            call = replace(call, facts=self._counts(call.account))
        else:
            call = self._write_edge(call, effect_s)
        if call.outcome == "unknown":
            call = replace(call, made=None, seen=(), facts={}, is_last=False)
        self.calls.append(call)

    def _write_entry(self, call: ClientCall, effect_s: float) -> ClientCall:
        post = None
        if call.kind == "repost":
            original = self.entries[call.target or 0]
            if original.gone:
                return replace(call, outcome="failed", status=404)
            post = original.seen
            if (call.account, post.post) in self._reposts:
                return replace(call, made=self._reposts[call.account, post.post])
        sequence = next(self._sequence) % 36**2
        made = int(effect_s) * 36**8 + call.account * 36**2 + sequence
        seen = Seen(made, made, call.account)
        if post is not None:
            seen = Seen(made, post.post, post.author, call.account)
        # An author's entries become visible in their order.
        visible_s = effect_s + self.rng.uniform(0, self.delay_s)
        visible_s = max(visible_s, self._visible_s[call.account])
        self._visible_s[call.account] = visible_s
        self._add(Entry(seen, visible_s))
        return replace(call, made=made)

    def _add(self, entry: Entry) -> None:
        seen = entry.seen
        self.entries[seen.entry] = entry
        insort(self._ids, seen.entry)
        self._post_counts[poster_of(seen)] += 1
        if seen.reposter is not None:
            self._reposts[seen.reposter, seen.post] = seen.entry
        else:
            self._posts[seen.author].append(seen.post)
            self._posts[ALL].append(seen.post)

    def _remove(self, call: ClientCall, effect_s: float) -> None:
        post = call.target or 0
        if call.kind == "unrepost":
            self._undo_repost((call.account, post))
            return
        if post in self.entries and not self.entries[post].gone:
            self._end(post)
            late_s = effect_s + self.rng.uniform(0, self.delay_s)
            self._at(late_s, lambda: self._undo_reposts_of(post))

    def _undo_reposts_of(self, post: int) -> None:
        for pair in [pair for pair in self._reposts if pair[1] == post]:
            self._undo_repost(pair)

    def _undo_repost(self, pair: Pair) -> None:
        entry_id = self._reposts.pop(pair, None)
        if entry_id is not None:
            self._end(entry_id)

    def _end(self, entry_id: int) -> None:
        entry = self.entries[entry_id]
        if not entry.gone:
            entry.gone = True
            self._post_counts[poster_of(entry.seen)] -= 1

    def _write_edge(self, call: ClientCall, effect_s: float) -> ClientCall:
        pair = (call.account, call.target or 0)
        other = (pair[1], pair[0])
        if call.kind == "follow" and (self.own["blocks"].of(*pair) or self._is_blocked(*pair)):
            return replace(call, outcome="failed", status=403)
        family = {"follow": "follows", "block": "blocks", "mute": "mutes"}[
            call.kind.removeprefix("un")
        ]
        value = not call.kind.startswith("un")
        late_s = effect_s + self.rng.uniform(0, self.delay_s)
        self.own[family].write(pair, value, effect_s)
        if family in self.others:
            self._at(late_s, lambda: self.others[family].write(pair, value, effect_s))
        if call.kind == "block":
            self.own["follows"].write(pair, False, effect_s)
            self._at(late_s, lambda: self.others["follows"].write(pair, False, effect_s))
            self.others["follows"].write(other, False, effect_s)
            self._at(late_s, lambda: self._mirror_block(other, late_s))
        return call

    def _mirror_block(self, follow: Pair, late_s: float) -> None:
        self.own["follows"].write(follow, False, late_s)
        self.others["follows"].write(follow, False, late_s)

    def _is_blocked(self, reader: int, other: int) -> bool:
        return self.others["blocks"].of(other, reader)

    def _home(self, reader: int, at_s: float, below: int | None) -> Iterator[Seen]:
        """The reader's home, from its newest entry on, without those from `below` up."""
        posts: set[int] = set()
        for entry_id in reversed(self._ids):
            entry = self.entries[entry_id]
            if entry.seen.post in posts or not self._is_shown(reader, entry, at_s):
                continue
            posts.add(entry.seen.post)
            if below is None or entry_id < below:
                yield entry.seen

    def _is_shown(self, reader: int, entry: Entry, at_s: float) -> bool:
        seen, poster = entry.seen, poster_of(entry.seen)
        if entry.gone or self.entries[seen.post].gone:
            return False
        if poster != reader and entry.visible_s > at_s:
            return False
        if poster != reader and not self.own["follows"].of(reader, poster):
            return False
        return not any(
            self.own["mutes"].of(reader, other)
            or self.own["blocks"].of(reader, other)
            or self._is_blocked(reader, other)
            for other in {poster, seen.author} - {reader}
        )

    def _read_home(self, client: Client, call: ClientCall, at_s: float) -> ClientCall:
        limit = self.rng.choice([2, 5, 40])
        if call.kind == "poll":
            home = islice(self._home(client.account, at_s, None), MOST_POLLED)
            new = [one for one in home if one.entry not in client.got]
            call = replace(call, min_id=client.newest, seen=tuple(new[-limit:]))
            call = replace(call, is_last=len(new) <= limit)
        else:
            max_id = client.next_max_id if self.rng.random() < 0.5 else None
            below = [*islice(self._home(client.account, at_s, max_id), limit + 1)]
            call = replace(call, max_id=max_id, seen=tuple(below[:limit]))
            call = replace(call, is_last=len(below) <= limit)
        if call.outcome == "ok":
            client.got |= {seen.entry for seen in call.seen}
            client.newest = max([client.newest, *(seen.entry for seen in call.seen)])
            if call.kind == "home":
                client.next_max_id = call.seen[-1].entry if call.seen else None
        return call

    def _facts(self, reader: int, other: int) -> dict[str, int]:
        blocks = self.own["blocks"].of(reader, other), self._is_blocked(reader, other)
        follows = (
            self.own["follows"].of(reader, other),
            self.others["follows"].of(other, reader),
        )
        return {
            "following": follows[0] and not any(blocks),
            "followed_by": follows[1] and not any(blocks),
            "blocking": blocks[0],
            "blocked_by": blocks[1],
            "muting": self.own["mutes"].of(reader, other),
        }

    def _counts(self, account: int) -> dict[str, int]:
        return {
            "posts": self._post_counts[account],
            "following": sum(pair[0] == account for pair in self.own["follows"].pairs()),
            "followers": sum(pair[1] == account for pair in self.others["follows"].pairs()),
        }


def simulate(seed: int, steps: int, **options: object) -> list[ClientCall]:
    """A history of so many calls that keeps all promises."""
    service = SimulatedService(random.Random(seed), **options)  # type: ignore[arg-type]
    return service.run(steps)


def reads_of(calls: list[ClientCall], kind: Kind) -> Iterator[tuple[int, ClientCall]]:
    """The answered reads of a kind, with their places in the history."""
    return ((i, one) for i, one in enumerate(calls) if one.kind == kind and one.outcome == "ok")
