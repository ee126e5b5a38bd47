"""Who reads the source when Redis lacks an entry, or has one past its soft time to live.

One thread of one process: the one whose load token is first. The others wait until the token is
gone, and then read the entry from Redis. So no reader gets the result of a load that began before
a change: Redis refuses its entry, and one of the waiting threads loads again. Correctness never
depends on the waits: a process that died delays others for a moment only. Then they load under the
same token. Threads that waited twice load one after the other, so that a slow load does not become
as many loads as there are readers.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

import structlog
from django.db import InterfaceError, OperationalError
from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.caching.errors import LoadTooSlow
from infra.caching.load_tokens import LoadTokens, begin_loads, make_token, token_key, write_loaded
from infra.caching.loads_in_progress import LOADS_IN_PROGRESS
from infra.caching.metrics import count_error, count_loads, count_waits
from infra.caching.questions import Question, answer_by_redis
from infra.shared_thread import need_own_thread
from infra.telemetry.reached_branches import reached

K = TypeVar("K")
V = TypeVar("V")

# How long a process waits for the load of another one, and how often it reads the token then. A
# notification would cost one connection per waiting thread.
PATIENCE_S = 0.25
POLL_S = 0.01
# How often a thread waits. After a wait there is no entry only if the load failed or a change came.
MOST_WAITS = 2
# How long a thread then waits for its turn.
TURNS_S = 10.0
log = structlog.get_logger()


class _Attempt(NamedTuple, Generic[K, V]):
    """`busy`: owners that other threads were loading."""

    values: dict[K, V]
    busy: list[K]
    tokens: LoadTokens


@dataclass(frozen=True, slots=True)
class SharedLoads(Generic[K, V]):
    """How the entries of one family are read and loaded.

    `key_of(owner)`: the key whose load token guards the entry. `ask(owners)`: the values that Redis
    has, by owner. `load(owners, tokens)`: reads the source, and writes the entries under their
    tokens or releases the tokens. Tokens of owners that it does not return are released here.
    """

    family: str
    key_of: Callable[[K], bytes]
    ask: Callable[[Sequence[K]], Question[dict[K, V]]]
    load: Callable[[Sequence[K], LoadTokens], Mapping[K, V]]

    def load_missing(self, owners: Sequence[K]) -> dict[K, V]:
        """Values that this thread or another one reads from the source.

        Raises what `load` raises; LoadTooSlow when others load for longer than all waits.
        Cost: one source read, one round trip, and those of `load`, for all owners together.
        """
        need_own_thread()
        values: dict[K, V] = {}
        missing = list(owners)
        for _ in range(MOST_WAITS):
            attempt = self._load_unless_busy(missing)
            values |= attempt.values
            if not attempt.busy:
                return values
            waited = self._wait_for(attempt.busy, attempt.tokens)
            values |= waited
            missing = [owner for owner in attempt.busy if owner not in waited]
            if not missing:
                return values
        return values | self._load_in_turn(missing)

    def load_stale(self, owners: Sequence[K]) -> dict[K, V]:
        """Fresh values of the owners that no other thread reloads; {} if the source is away."""
        need_own_thread()
        own = make_token()
        with LOADS_IN_PROGRESS.enter(own):
            tokens = self._begin(owners, own)
            begun = [owner for owner in owners if self._token(owner, tokens) == own]
            try:
                return self._load(begun, "stale", tokens)
            except (OperationalError, InterfaceError) as error:
                log.warning("cache.not_revalidated", family=self.family, error=str(error))
                count_error(self.family)
                return {}

    def _load_unless_busy(self, owners: Sequence[K]) -> _Attempt[K, V]:
        """Loads the owners that no other thread loads.

        The entries are read again after the tokens were created: another load may have ended since
        the caller missed them.
        """
        own, question = make_token(), self.ask(owners)
        with LOADS_IN_PROGRESS.enter(own):
            tokens = self._begin(owners, own, question.commands)
            values = question.decode(tokens.replies) if tokens.by_entry else {}
            self._release([owner for owner in values if self._token(owner, tokens) == own], tokens)
            missing = [owner for owner in owners if owner not in values]
            mine = [owner for owner in missing if self._token(owner, tokens) in (own, b"")]
            values |= self._load(mine, "miss", tokens)
        return _Attempt(values, [owner for owner in missing if owner not in set(mine)], tokens)

    def _load_in_turn(self, owners: Sequence[K]) -> dict[K, V]:
        """One thread of this process loads at a time; the others read its entries afterwards, also
        one that comes when it has ended."""
        deadline, values, missing = time.monotonic() + TURNS_S, dict[K, V](), list(owners)
        while missing:
            with LOADS_IN_PROGRESS.enter(self._turn_of(missing)) as is_its_turn:
                values |= self._read_again(missing)
                missing = [owner for owner in missing if owner not in values]
                if is_its_turn and missing:
                    return values | self._load(missing, "miss", self._begin(missing))
            if missing and time.monotonic() >= deadline:
                raise LoadTooSlow(self.family)
        return values

    def _turn_of(self, owners: Sequence[K]) -> bytes:
        return b"turn:" + b" ".join(sorted(map(self.key_of, owners)))

    def _wait_for(self, owners: Sequence[K], tokens: LoadTokens) -> dict[K, V]:
        """What other threads load of these owners, as far as Redis has it afterwards."""
        count_waits(self.family, len(owners))
        by_token: dict[bytes, list[K]] = {}
        for owner in owners:
            by_token.setdefault(self._token(owner, tokens), []).append(owner)
        deadline = time.monotonic() + PATIENCE_S
        values: dict[K, V] = {}
        for token, waiting in by_token.items():
            values |= self._wait_for_load(token, waiting, tokens, deadline)
        return values

    def _wait_for_load(
        self, token: bytes, owners: Sequence[K], tokens: LoadTokens, deadline: float
    ) -> dict[K, V]:
        """The same for one load. If another process died in it, one thread loads instead."""
        with LOADS_IN_PROGRESS.enter(token) as is_other_process:
            if is_other_process and not self._ends(token, owners, deadline):
                return self._load(owners, "miss", tokens)
        return self._read_again(owners)

    def _read_again(self, owners: Sequence[K]) -> dict[K, V]:
        """What Redis has of these owners after another thread's load."""
        try:
            return answer_by_redis(self.ask(owners))
        except RedisError:
            return {}

    def _ends(self, token: bytes, owners: Sequence[K], deadline: float) -> bool:
        """Whether the load of another process ends before the deadline."""
        reached("cache.waited_for_other_process")
        commands = [("GET", token_key(self.key_of(owner))) for owner in owners]
        try:
            while token in redis().run(commands):
                if time.monotonic() >= deadline:
                    return False
                time.sleep(POLL_S)
        except RedisError:
            return False
        return True

    def _load(
        self, owners: Sequence[K], why: Literal["miss", "stale"], tokens: LoadTokens
    ) -> dict[K, V]:
        if not owners:
            return {}
        loaded: Mapping[K, V] = {}
        try:
            loaded = self.load(owners, tokens)
        finally:  # also when the source fails: others must not wait for this load
            self._release([owner for owner in owners if owner not in loaded], tokens)
        count_loads(self.family, why, len(owners))
        return dict(loaded)

    def _begin(
        self, owners: Sequence[K], own: bytes | None = None, reads: Sequence[Command] = ()
    ) -> LoadTokens:
        return begin_loads(self.family, list(map(self.key_of, owners)), own, reads)

    def _token(self, owner: K, tokens: LoadTokens) -> bytes:
        return tokens.of(self.key_of(owner))

    def _release(self, owners: Sequence[K], tokens: LoadTokens) -> None:
        write_loaded(self.family, tokens.release_commands(list(map(self.key_of, owners))))
