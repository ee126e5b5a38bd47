"""People who read everything they can through HTTP, with the client library people use."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import requests
from mastodon import Mastodon
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from tests.oracle import Counts, Oracle

STATUSES_A_PAGE = 40
ACCOUNTS_A_PAGE = 80


@dataclass(frozen=True)
class Reader:
    account_id: int
    client: Mastodon

    @classmethod
    def at(cls, address: str, account_id: int, token: str) -> "Reader":
        # The server may close an idle connection just when it is used again: a browser asks again.
        session = requests.Session()
        session.mount("http://", HTTPAdapter(max_retries=Retry(total=1)))
        client = Mastodon(
            access_token=token, api_base_url=address, ratelimit_method="throw", session=session
        )
        return cls(account_id, client)

    def open_home(self) -> None:
        self.client.timeline_home(limit=1)

    def home(self) -> list[str]:
        return [str(s.id) for s in self._all(self.client.timeline_home(limit=STATUSES_A_PAGE))]

    def posts(self) -> list[str]:
        first = self.client.account_statuses(self.account_id, limit=STATUSES_A_PAGE)
        return [str(status.id) for status in self._all(first)]

    def following(self) -> list[int]:
        first = self.client.account_following(self.account_id, limit=ACCOUNTS_A_PAGE)
        return [int(account.id) for account in self._all(first)]

    def followers(self) -> list[int]:
        first = self.client.account_followers(self.account_id, limit=ACCOUNTS_A_PAGE)
        return [int(account.id) for account in self._all(first)]

    def counts(self) -> Counts:
        me = self.client.account_verify_credentials()
        return Counts(me.followers_count, me.following_count, me.statuses_count)

    def _all(self, page: Any) -> Iterator[Any]:
        """From the first page to the end, as the Link headers lead."""
        while page:
            yield from page
            page = self.client.fetch_next(page)


def differences(reader: Reader, oracle: Oracle) -> list[str]:
    """What the reader is shown that differs from what must be; one line each, empty when right."""
    person = reader.account_id
    answers: list[tuple[str, Callable[[], Any], Any]] = [
        ("home", reader.home, oracle.home(person)),
        ("posts", reader.posts, oracle.posts(person)),
        ("following", reader.following, oracle.following(person)),
        ("followers", reader.followers, oracle.followers(person)),
        ("counts", reader.counts, oracle.counts(person)),
    ]
    found = []
    for name, ask, expected in answers:
        if (got := ask()) != expected:
            found.append(f"{name} of {person}: {_describe(got, expected)}")
    return found


def _describe(got: Iterable[Any], expected: Iterable[Any]) -> str:
    shown, due = list(got), list(expected)
    missing, extra = [i for i in due if i not in shown], [i for i in shown if i not in due]
    repeated = len(shown) - len(set(shown))
    return (
        f"{len(shown)} instead of {len(due)}; missing {missing[:3]}, not due {extra[:3]},"
        f" {repeated} twice{'' if missing or extra or repeated else ', in another order'}"
    )
