"""Who is who in all tests: `people` are the ids of three accounts, and `me`, `you` and `them` their
clients; `ann` and `bob` are the ids of accounts with these names. Also those who work here, and
those whom moderators decide on.

tests/world.py makes accounts and posts in the database, tests/callers.py clients with a token, and
tests/sign_ups.py accounts as clients make them.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group

from accounts.models import User
from moderation.actions.decide import decide_on_account, decide_on_post
from moderation.groups import create_groups
from moderation.models import Decision
from moderation.types import DecisionKind, DecisionOrigin
from posts.actions.create_post import create_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.ids import EPOCH, PostId
from posts.types import Draft, Kind
from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.timelines.homes import first_page
from tests.sign_ups import FAST_HASHERS, PASSWORD
from tests.world import drain_all, make_account, make_accounts, publish


def make_boss(name: str = "boss", password: str = "") -> User:
    """A superuser. A password costs a third of a second."""
    user = User.objects.get(pk=make_account(name))
    user.is_staff = user.is_superuser = True
    if password:
        user.set_password(password)
    user.save()
    return user


def make_member(group: str, name: str) -> User:
    create_groups()
    user = User.objects.get(pk=make_account(name))
    user.is_staff = True
    user.save()
    user.groups.add(Group.objects.get(name=group))
    return user


BECAUSE = DecisionOrigin(None, "spam")


def decide(account_id: int, kind: DecisionKind, **options: Any) -> Decision | None:
    return decide_on_account(account_id, kind, BECAUSE, datetime.now(UTC), **options)


def decide_on(post_id: PostId, kind: DecisionKind) -> Decision | None:
    return decide_on_post(post_id, kind, BECAUSE)


class Community:
    """I follow the moderated account and a friend. These two reposted, answered and favourited each
    other's posts. The unrelated account follows no account.
    """

    def __init__(self) -> None:
        self.me, self.moderated, self.friend, self.unrelated = make_accounts(4)
        for followee in (self.moderated, self.friend):
            follow(self.me, followee)
        follow(self.friend, self.moderated)
        follow(self.moderated, self.friend)
        drain_all()
        self._second = 1_000
        self.theirs = self.post(self.moderated)
        self.friends = self.post(self.friend)
        self.repost_of_theirs = repost(self.friend, self.theirs, clock_s=self._clock)
        self.repost_by_them = repost(self.moderated, self.friends, clock_s=self._clock)
        self.answer = self.reply(self.moderated, self.friends)
        mark_post(self.moderated, self.friends, Kind.FAVOURITE, True)
        mark_post(self.friend, self.theirs, Kind.FAVOURITE, True)
        drain_all()

    def post(self, author: int) -> PostId:
        return publish(author, clock_s=self._clock)

    def reply(self, author: int, parent: PostId) -> PostId:
        return create_post(author, Draft("yes", in_reply_to=parent), clock_s=self._clock)

    def _clock(self) -> float:
        self._second += 10
        return EPOCH + self._second

    @property
    def whole_home(self) -> list[str]:
        """My home timeline with all posts, each at the place of its newest event."""
        return [i.public for i in (self.answer, self.repost_by_them, self.repost_of_theirs)]

    def home(self) -> list[str]:
        return first_page(self.me)


class Visitor:
    """Reads paths as an account, or as a guest."""

    def __init__(self, account_id: int | None = None) -> None:
        self.caller = Caller(account_id)

    def status_of(self, path: str) -> int:
        return int(self.caller.get(path).status_code)

    def ids_at(self, path: str) -> list[str]:
        answer = self.caller.get(path)
        assert answer.status_code == 200, answer.content
        return [one["id"] for one in answer.json()]


@pytest.fixture
def ann(world: None) -> int:
    return make_account("ann")


@pytest.fixture
def bob(world: None) -> int:
    return make_account("bob")


@pytest.fixture
def ann_signs_in(ann: int, settings: LazySettings) -> int:
    """Ann has a password and an address. The real hasher takes half a second on purpose."""
    settings.PASSWORD_HASHERS = FAST_HASHERS
    values = {"password": make_password(PASSWORD), "email": "Ann@example.org"}
    User.objects.filter(pk=ann).update(**values)
    return ann


@pytest.fixture
def as_ann(ann: int) -> Caller:
    return Caller(ann)


def cast(count: int, follows: int = 0, names: Sequence[str] = ()) -> Any:
    """`people = cast(4)` in a module that needs another number of people than three. The first
    follows so many of those after them, and the follows are delivered."""

    @pytest.fixture
    def people(world: None) -> list[int]:
        ids = [*map(make_account, names), *make_accounts(count - len(names))]
        for followee in ids[1 : follows + 1]:
            follow(ids[0], followee)
        if follows:
            drain_all()
        return ids

    return people


def ring(count: int) -> Any:
    """`people = ring(6)`: each follows the next one, and the last the first."""

    @pytest.fixture
    def people(world: None) -> list[int]:
        ids = make_accounts(count)
        for follower, followee in zip(ids, ids[1:] + ids[:1], strict=True):
            follow(follower, followee)
        drain_all()
        return ids

    return people


people = cast(3)


@pytest.fixture
def me(people: list[int]) -> Caller:
    """The first of the people of a module."""
    return Caller(people[0])


@pytest.fixture
def you(people: list[int]) -> Caller:
    """The second."""
    return Caller(people[1])


@pytest.fixture
def them(people: list[int]) -> Caller:
    """The third."""
    return Caller(people[2])


@pytest.fixture
def original(people: list[int]) -> str:
    """The public id of a post of the first."""
    return publish(people[0], "the original").public


@pytest.fixture
def community(world: None) -> Community:
    return Community()
