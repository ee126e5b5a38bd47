"""The load: each client has a seeded process of arrivals of its own, and never waits for others.

The loop is open: when a call takes long, the next calls of that client are due all the same, and
follow without a pause.
"""

import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from lab.faults.cluster.cluster import ClientAccount
from lab.faults.history.calls import ClientCall
from lab.faults.load.balancer import Balancer
from lab.faults.load.connection import ClientConnection
from lab.faults.load.figures import Timing
from lab.faults.load.session import Session, SharedWorld

WEIGHTS = {
    "home": 26, "poll": 18, "page": 6, "post": 16, "repost": 5, "unrepost": 3, "delete": 4,
    "follow": 6, "unfollow": 4, "block": 1, "unblock": 2, "mute": 1, "unmute": 1,
    "relationship": 4, "counts": 3,
}  # fmt: skip
# So many clients read the home of an account that another client uses too.
SECOND_READERS = 8
READS = {"home": 1, "poll": 1}
# A client of its own token polls in one way. One that shares a token also polls in the other.
ONE_WAY: Sequence[str] = ("min_id",)
BOTH_WAYS: Sequence[str] = ("min_id", "since_id")
FOLLOWS_EACH = 5
TIMEOUT_S = 10.0


class Load:
    """`calls_per_s`: of all clients together; it may be changed while the load runs.

    `sharers`: so many accounts have one more client, which uses the token of the first one.
    """

    def __init__(
        self,
        people: Sequence[ClientAccount],
        balancer: Balancer,
        seed: int,
        calls_per_s: float = 60.0,
        weights: Mapping[str, int] = WEIGHTS,
        sharers: int = 0,
    ) -> None:
        self.calls_per_s = calls_per_s
        self.timings: list[Timing] = []
        self.world = SharedWorld(people)
        self._weights, self._seed = weights, seed
        readers = [(person, person.tokens[0], ONE_WAY) for person in people]
        readers += [(person, person.tokens[1], ONE_WAY) for person in people[:SECOND_READERS]]
        readers += [(person, person.tokens[0], BOTH_WAYS) for person in people[:sharers]]
        self.sessions = [
            Session(
                client,
                account,
                self.world,
                ClientConnection(client, token, balancer, TIMEOUT_S),
                ways,
            )
            for client, (account, token, ways) in enumerate(readers)
        ]
        self._over = threading.Event()

    @property
    def calls(self) -> list[ClientCall]:
        """The whole history, in the order of the begins."""
        calls = [call for session in self.sessions for call in session.calls]
        return sorted(calls, key=lambda call: call.began_s)

    def settle(self) -> None:
        """Each account follows its neighbours and posts once: recorded, before any fault."""
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(self._settle, range(len(self.world.people))))

    @contextmanager
    def running(self) -> Iterator[None]:
        """The clients call during the block. Raises what broke in a client."""
        self._over.clear()
        with ThreadPoolExecutor(len(self.sessions)) as pool:
            clients = [pool.submit(self._run, n) for n in range(len(self.sessions))]
            try:
                yield
            finally:
                self._over.set()
            for client in clients:
                client.result()

    def _settle(self, number: int) -> None:
        people, session = self.world.people, self.sessions[number]
        for step in range(1, FOLLOWS_EACH + 1):
            session.relate("follow", people[(number + step) % len(people)].id)
        session.post(f"hello of {number}")
        session.home()

    def _run(self, number: int) -> None:
        """Each client draws from a generator of its own, so that a seed repeats its draws."""
        rng = random.Random(f"{self._seed} {number}")
        session = self.sessions[number]
        weights = self._weights if number < len(self.world.people) else READS
        names, shares = list(weights), list(weights.values())
        due_s = time.monotonic()
        while True:
            due_s += rng.expovariate(self.calls_per_s / len(self.sessions))
            if self._over.wait(max(0.0, due_s - time.monotonic())):
                return
            call = session.do(rng.choices(names, shares)[0], rng)
            if call is not None:
                self._time(call, session.person.alias, due_s)

    def _time(self, call: ClientCall, alias: str, due_s: float) -> None:
        self.timings.append(
            Timing(call.client, alias, call.kind, due_s, call.began_s, call.ended_s, call.status)
        )
