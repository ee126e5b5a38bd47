"""Many accounts ask two running webs at once: each answer is one for the account that asked."""

import http.client
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest

from integrations.actions import create_service
from posts.actions.create_post import create_post
from posts.actions.mark_post import mark_post
from posts.types import Draft, Kind, Visibility
from relations.actions.follow import follow
from relations.lists.actions.lists import create_account_list
from tests.browser.serving import running_site
from tests.callers import token_of
from tests.world import drain_all, make_accounts, publish

PEOPLE, FOLLOWED, WEBS, THREADS = 25, 3, 2, 8
# As many as take some seconds.
REQUESTS = 2_000
HEADERS = ("private, no-cache", "Authorization, Tideline-Account")


Headers = dict[int, dict[str, str]]


def own_headers(people: Sequence[int]) -> Headers:
    """Each person asks with a token of their own."""
    return {person: {"Authorization": f"Bearer {token_of(person)}"} for person in people}


def acting_headers(people: Sequence[int]) -> Headers:
    """A service asks for each person, with one token."""
    made = create_service("Backend", ["service:read"], 1_000_000, datetime.now(UTC))
    bearer = {"Authorization": f"Bearer {made.token}"}
    return {person: bearer | {"Tideline-Account": str(person)} for person in people}


class Ring:
    """Everyone follows the next three, and bookmarks their own post only. The first post of each
    is private, and the last one public."""

    def __init__(self, is_by_service: bool) -> None:
        self.people = make_accounts(PEOPLE)
        self.headers = acting_headers(self.people) if is_by_service else own_headers(self.people)
        self.private = {
            person: create_post(person, Draft("closed", visibility=Visibility.PRIVATE)).public
            for person in self.people
        }
        self.posts = {person: publish(person, f"of {person}").public for person in self.people}
        for place, person in enumerate(self.people):
            for followee in self.followees(place):
                follow(person, followee)
            create_account_list(person, f"list of {person}")
        drain_all()
        for person in self.people:
            post = publish(person, f"marked by {person}")
            mark_post(person, post, Kind.BOOKMARK, True)
            self.posts[person] = post.public
        drain_all()

    def followees(self, place: int) -> list[int]:
        return [self.people[(place + n) % PEOPLE] for n in range(1, FOLLOWED + 1)]


class Question:
    """One person's requests, and whether an answer is that person's."""

    def __init__(self, ring: Ring, place: int, other: int) -> None:
        self.me, self.other = str(ring.people[place]), str(ring.people[other])
        self.headers = ring.headers[ring.people[place]]
        self.mine = ring.posts[ring.people[place]]
        self.theirs = ring.posts[ring.people[other]]
        self.private = ring.private[ring.people[other]]
        self.followed = {str(person) for person in ring.followees(place)}

    def checks(self) -> dict[str, Callable[[Any], bool]]:
        """By path: what must hold of its answer."""
        others = f"/api/v1/accounts/relationships?id[]={self.other}"
        return {
            "/api/v1/accounts/verify_credentials": lambda found: found["id"] == self.me,
            "/api/v1/profile": lambda found: found["id"] == self.me,
            "/api/v1/timelines/home": self._is_my_home,
            "/api/v1/bookmarks": lambda found: [one["id"] for one in found] == [self.mine],
            "/api/v1/lists": lambda found: (
                [one["title"] for one in found] == [f"list of {self.me}"]
            ),
            f"/api/v1/statuses/{self.theirs}": self._is_marked_if_mine,
            others: lambda found: found[0]["following"] == (self.other in self.followed),
            f"/api/v1/accounts/{self.other}/statuses": self._are_marked_if_mine,
            f"/api/v1/statuses?id[]={self.private}": lambda found: len(found) == self._sees_private,
        }

    def _is_my_home(self, found: Any) -> bool:
        authors = {post["account"]["id"] for post in found}
        return self.followed <= authors <= self.followed | {self.me} and all(
            self._is_marked_if_mine(post) for post in found if post["id"] == self.theirs
        )

    def _is_marked_if_mine(self, post: Any) -> bool:
        return bool(post["bookmarked"]) == (post["id"] == self.mine)

    def _are_marked_if_mine(self, posts: Any) -> bool:
        is_whole = len(posts) == 2 + self._sees_private
        return is_whole and all(map(self._is_marked_if_mine, posts))

    @property
    def _sees_private(self) -> bool:
        return self.other in {self.me, *self.followed}


def ask_many(ring: Ring, addresses: Sequence[str], seed: int) -> list[str]:
    """Paths whose answers were another one's. All people share the connections of a thread."""
    with ExitStack() as stack:
        hosts = [urlsplit(address).netloc for address in addresses]
        opened = [http.client.HTTPConnection(host, timeout=60) for host in hosts]
        connections = [stack.enter_context(closing(one)) for one in opened]
        return _ask_over(ring, connections, random.Random(seed))


def _ask_over(
    ring: Ring, connections: Sequence[http.client.HTTPConnection], choose: random.Random
) -> list[str]:
    wrong = []
    for _ in range(REQUESTS // THREADS):
        question = Question(ring, choose.randrange(PEOPLE), choose.randrange(PEOPLE))
        path, holds = choose.choice(list(question.checks().items()))
        connection = choose.choice(connections)
        connection.request("GET", path, headers=question.headers)
        answer = connection.getresponse()
        body = answer.read()
        headers = answer.headers["Cache-Control"], answer.headers["Vary"]
        if answer.status != 200 or headers != HEADERS or not holds(orjson.loads(body)):
            wrong.append(f"{question.me} {path} {answer.status} {headers} {body[:200]!r}")
    return wrong


@pytest.fixture
def addresses(world: None, tmp_path: Path) -> Iterator[list[str]]:
    limits = {"QUOTA_PER_ACCOUNT": "1000000"}
    with ExitStack() as stack:
        yield [
            stack.enter_context(running_site(tmp_path / f"web{n}.log", environment=limits))
            for n in range(WEBS)
        ]


@pytest.mark.slow
@pytest.mark.parametrize("is_by_service", [False, True])
def test_no_answer_is_another_ones(addresses: list[str], is_by_service: bool) -> None:
    ring = Ring(is_by_service)
    with ThreadPoolExecutor(THREADS) as threads:
        wrong = list(threads.map(partial(ask_many, ring, addresses), range(THREADS)))
    assert [one for found in wrong for one in found] == []
