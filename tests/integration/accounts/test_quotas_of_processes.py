"""One quota over several running web processes, with Redis and without it."""

import http.client
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lab.runner.port import free_port
from tests.browser.serving import running_site
from tests.callers import token_of
from tests.world import make_account

WEBS, QUOTA = 3, 60
# How far from the quota all processes together may be.
TOLERANCE = 0.1
PATH = "/api/v1/accounts/verify_credentials"


class WebAnswers:
    """Asks all webs in turn, as one account, and counts the answers by web and status."""

    def __init__(self, addresses: list[str], token: str) -> None:
        self.statuses = [Counter[int]() for _ in addresses]
        self.headers: dict[int, http.client.HTTPMessage] = {}
        self.resets: set[str] = set()
        for _ in range(2 * QUOTA):
            for web, address in enumerate(addresses):
                self._ask(web, address, token)

    def _ask(self, web: int, address: str, token: str) -> None:
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        connection.request("GET", PATH, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        self.statuses[web][answer.status] += 1
        self.headers[answer.status] = answer.headers
        self.resets.add(answer.headers["X-RateLimit-Reset"])
        connection.close()

    @property
    def granted(self) -> list[int]:
        return [statuses[200] for statuses in self.statuses]


@contextmanager
def webs(folder: Path, **environment: str) -> Iterator[list[str]]:
    limits = {"QUOTA_PER_ACCOUNT": str(QUOTA), **environment}
    with ExitStack() as stack:
        yield [
            stack.enter_context(running_site(folder / f"web{n}.log", environment=limits))
            for n in range(WEBS)
        ]


def ask_in_one_period(addresses: list[str]) -> WebAnswers:
    """Asks again, as another account, if the first time ran over the end of a period."""
    answers = WebAnswers(addresses, token_of(make_account(), "read"))
    if len(answers.resets) == 1:
        return answers
    return WebAnswers(addresses, token_of(make_account(), "read"))


def assert_says_when_to_come_back(answers: WebAnswers) -> None:
    refused = answers.headers[429]
    assert (refused["X-RateLimit-Limit"], refused["X-RateLimit-Remaining"]) == (str(QUOTA), "0")
    assert 0 < int(refused["Retry-After"]) <= 300
    assert {status for each in answers.statuses for status in each} == {200, 429}


@pytest.mark.slow
def test_processes_together_grant_the_quota(world: None, tmp_path: Path) -> None:
    with webs(tmp_path) as addresses:
        answers = ask_in_one_period(addresses)
    assert QUOTA * (1 - TOLERANCE) <= sum(answers.granted) <= QUOTA
    assert_says_when_to_come_back(answers)


@pytest.mark.slow
def test_without_redis_each_process_grants_it_once(world: None, tmp_path: Path) -> None:
    """As accounts.api.quotas documents: nothing is refused because Redis is away."""
    away = f"redis://127.0.0.1:{free_port()}/0"
    with webs(tmp_path, REDIS_URL=away, REDIS_TIMEOUT_MS="250") as addresses:
        answers = ask_in_one_period(addresses)
    assert answers.granted == [QUOTA] * WEBS
    assert_says_when_to_come_back(answers)
