"""What the service says of all accounts when it is quiet, read over HTTP."""

import time
from collections.abc import Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from lab.faults.cluster.cluster import ClientAccount
from lab.faults.history.calls import Seen
from lab.faults.load.balancer import Balancer
from lab.faults.load.connection import Answer, ClientConnection
from lab.faults.load.session import PAGE, counts_of, entries_of, relationship_of

_TIMEOUT_S = 30.0
_THREADS = 4
# Pages of 40. A soak of half an hour leaves some thousand posts in a home timeline.
_MOST_PAGES = 1_000
_LIST_LIMIT = 80
_PAIRS_AT_ONCE = 40
_TRIES, _PAUSE_S = 10, 0.5


class EndStateUnreadable(RuntimeError):
    """A read failed while nothing was broken."""


@dataclass(frozen=True)
class EndState:
    """By account id. Lists are complete, read page by page, in the order of the pages.

    `relationships`: the flags of (viewer, other). `statuses`: the account's own timeline as it sees
    it itself, without its direct posts.
    """

    homes: dict[int, tuple[Seen, ...]] = field(default_factory=dict)
    statuses: dict[int, tuple[Seen, ...]] = field(default_factory=dict)
    followers: dict[int, tuple[int, ...]] = field(default_factory=dict)
    following: dict[int, tuple[int, ...]] = field(default_factory=dict)
    counts: dict[int, dict[str, int]] = field(default_factory=dict)
    relationships: dict[tuple[int, int], dict[str, int]] = field(default_factory=dict)


def gather_end_state(accounts: Sequence[ClientAccount], balancer: Balancer) -> EndState:
    """Raises EndStateUnreadable. Cost: about a dozen requests for each account."""
    state = EndState()
    with ThreadPoolExecutor(_THREADS) as pool:
        list(
            pool.map(
                lambda account: _AccountReader(account, accounts, balancer, state).read(), accounts
            )
        )
    return state


class _AccountReader:
    """Reads what one account sees."""

    def __init__(
        self,
        account: ClientAccount,
        accounts: Sequence[ClientAccount],
        balancer: Balancer,
        state: EndState,
    ) -> None:
        self._account, self._accounts, self._state = account, accounts, state
        self._connection = ClientConnection(account.id, account.tokens[0], balancer, _TIMEOUT_S)

    def read(self) -> None:
        own, state = self._account.id, self._state
        root = f"/api/v1/accounts/{own}"
        state.homes[own] = self._timeline("/api/v1/timelines/home")
        state.statuses[own] = self._timeline(f"{root}/statuses", {"direct"})
        state.followers[own] = self._account_ids(f"{root}/followers")
        state.following[own] = self._account_ids(f"{root}/following")
        state.counts[own] = counts_of(self._get(root))
        self._read_relationships([account.id for account in self._accounts if account.id != own])
        self._connection.close()

    def _timeline(self, path: str, left_out: Container[str] = ()) -> tuple[Seen, ...]:
        """`left_out`: visibilities of posts."""
        pages = (
            [status for status in page if status["visibility"] not in left_out]
            for page in self._pages(path, PAGE)
        )
        return tuple(seen for page in pages for seen in entries_of(page))

    def _account_ids(self, path: str) -> tuple[int, ...]:
        return tuple(int(item["id"]) for page in self._pages(path, _LIST_LIMIT) for item in page)

    def _pages(self, path: str, limit: int) -> Iterator[list[Any]]:
        """All pages. A page may be empty and have a next one."""
        page = f"{path}?limit={limit}"
        for _ in range(_MOST_PAGES):
            answer = self._answer(page)
            yield answer.body
            if answer.next_path is None:
                return
            page = answer.next_path
        raise EndStateUnreadable(f"{path}: more than {_MOST_PAGES} pages")

    def _get(self, path: str, **query: object) -> Any:
        return self._answer(path, **query).body

    def _answer(self, path: str, **query: object) -> Answer:
        """The first complete answer: a machine with too much to do refuses some."""
        for _ in range(_TRIES):
            answer = self._connection.get(path, **query)
            if answer.is_ok:
                return answer
            time.sleep(_PAUSE_S)
        raise EndStateUnreadable(f"{path}: {answer.status}")

    def _read_relationships(self, others: list[int]) -> None:
        for start in range(0, len(others), _PAIRS_AT_ONCE):
            some = others[start : start + _PAIRS_AT_ONCE]
            for relationship in self._get("/api/v1/accounts/relationships", **{"id[]": some}):
                pair = (self._account.id, int(relationship["id"]))
                self._state.relationships[pair] = relationship_of(relationship)
