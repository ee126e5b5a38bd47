"""Quiet and special follows, blocks, mutes and rosters show to nobody they should not show to.

By difference: the same world with and without the secret gives others the same bytes, at every
endpoint there is, from warm caches, from cold ones, and before the drain has told anybody.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson
import pytest
from django.test import Client

from accounts.queries.in_process import forget_accounts
from infra.caching.client import redis
from posts.cache.in_process import in_process_posts
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from tests.callers import Caller
from tests.reads import Read, World, all_reads, answers
from tests.world import drain_all, make_account, publish

Answers = dict[Read, list[tuple[int, bytes, str]]]
Act = tuple[str, dict[str, Any]]

FOLLOW: Act = ("follow", {})
QUIET: Act = ("follow", {"quiet": True})
OPEN: Act = ("follow", {"quiet": False})
SPECIAL: Act = ("follow", {"special": True})
NOTIFY: Act = ("follow", {"notify": True})
NO_REPOSTS: Act = ("follow", {"reblogs": False})
UNFOLLOW: Act = ("unfollow", {})
BLOCK: Act = ("block", {})
UNBLOCK: Act = ("unblock", {})
MUTE: Act = ("mute", {})
MUTE_FOR_AN_HOUR: Act = ("mute", {"duration": 3600, "notifications": False})


class Secret(NamedTuple):
    """What lies between ann and bob already, the acts that others must not see, and the others.

    Acts come together where any of them would show by itself: a test reads everything there is.
    """

    before: tuple[Act, ...]
    acts: tuple[Act, ...]
    watchers: tuple[str, ...]


THIRDS = ("anonymous", "cat", "fay")
EVERYBODY = (*THIRDS, "bob")
OF_A_FOLLOW = (SPECIAL, NOTIFY, NO_REPOSTS, MUTE_FOR_AN_HOUR)
SECRETS = {
    "mute": Secret((), (MUTE,), EVERYBODY),
    "flags and mute of an open follow": Secret((FOLLOW,), OF_A_FOLLOW, EVERYBODY),
    "flags and mute of a quiet follow": Secret((QUIET,), OF_A_FOLLOW, ("bob",)),
    "quiet follow": Secret((), (QUIET, *OF_A_FOLLOW), THIRDS),
    "end of a quiet follow": Secret((QUIET,), (UNFOLLOW,), THIRDS),
    "block": Secret((), (BLOCK,), THIRDS),
    "end of a block": Secret((FOLLOW, BLOCK), (UNBLOCK,), THIRDS),
}


class People:
    """Ann and bob, fay who follows both and is followed by ann, and cat who follows ann."""

    def __init__(self) -> None:
        self.names = ("ann", "bob", "cat", "fay")
        self.ann, self.bob, self.cat, self.fay = ids = [make_account(name) for name in self.names]
        self.callers = dict(zip(self.names, map(Caller, ids), strict=True))
        for follower, followee in (("fay", "ann"), ("fay", "bob"), ("ann", "fay"), ("cat", "ann")):
            self.act(follower, followee, FOLLOW)
        self.act("bob", "cat", FOLLOW)
        posts = [publish(author).public for author in ids][:2]
        self.list_id = create_account_list(self.ann, "close").list_id
        lists = [str(self.list_id)]
        self.world = World(dict(zip(ids, self.names, strict=True)), posts, lists)
        self.reads = all_reads(self.world)
        drain_all()

    def act(self, who: str, whom: str, act: Act) -> None:
        verb, body = act
        answer = self.callers[who].post(f"/api/v1/accounts/{getattr(self, whom)}/{verb}", body)
        assert answer.status_code == 200, answer.content

    def seen_by(self, watchers: Iterable[str]) -> dict[str, Answers]:
        """All they can read; what this process remembers for a second is forgotten first."""
        forget_accounts()
        clients = {name: self._client(name) for name in watchers}
        return {name: answers(client, self.reads) for name, client in clients.items()}

    def _client(self, name: str) -> Client:
        return self.callers[name].client if name in self.callers else Client()


@pytest.fixture
def people(world, settings) -> People:
    settings.QUOTA_PER_ACCOUNT = 1_000_000
    return People()


def go_cold() -> None:
    redis().call("FLUSHDB")
    in_process_posts.forget_all()


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_others_get_the_same_bytes(people, secret):
    for act in secret.before:
        people.act("ann", "bob", act)
    drain_all()
    people.seen_by(secret.watchers)  # so that everything is cached when the secret comes
    without = people.seen_by(secret.watchers)
    for act in secret.acts:
        people.act("ann", "bob", act)
    assert_same(without, people.seen_by(secret.watchers), "before the drain")
    drain_all()
    assert_same(without, people.seen_by(secret.watchers), "warm")
    go_cold()
    assert_same(without, people.seen_by(secret.watchers), "cold")


def assert_same(one: dict[str, Answers], other: dict[str, Answers], when: str) -> None:
    for watcher, reads in one.items():
        for read, pages in reads.items():
            assert other[watcher][read] == pages, (when, watcher, read)


def test_rosters_show_to_their_owner_alone(people):
    people.act("ann", "bob", FOLLOW)
    drain_all()
    watchers = [*EVERYBODY, "ann"]
    people.seen_by(watchers)
    before = people.seen_by(watchers)
    add_members(people.ann, people.list_id, [people.bob])
    create_account_list(people.ann, "distant")
    after = people.seen_by(watchers)
    assert_same({name: before[name] for name in EVERYBODY}, after, "rosters")
    changed = {
        read.template for read, pages in before["ann"].items() if after["ann"][read] != pages
    }
    assert changed == {
        "api/v1/lists",
        "api/v1/lists/<str:list_id>/accounts",
        "api/v1/timelines/list/<str:list_id>",
        "api/v1/accounts/<account:account_id>/lists",
    }
    drain_all()
    assert_same({name: before[name] for name in EVERYBODY}, people.seen_by(EVERYBODY), "drained")


def test_quiet_follow_is_to_its_followee_like_an_open_one(people):
    """But for what everybody sees: whom ann follows and how many, and how many follow bob.

    Bob's own profile and his own list count her; where he stands among others, he is shown as they
    see him.
    """
    people.act("ann", "bob", OPEN)
    drain_all()
    people.seen_by(["bob"])
    before = people.seen_by(["bob"])["bob"]
    people.act("ann", "bob", QUIET)
    drain_all()
    public = {(str(people.ann), "following_count"), (str(people.bob), "followers_count")}
    for prepare in (lambda: None, go_cold):
        prepare()
        after = people.seen_by(["bob"])["bob"]
        for read, pages in before.items():
            if not read.path.startswith(f"/api/v1/accounts/{people.ann}/following"):
                assert masked(after[read], public) == masked(pages, public), read
        assert profile(after, people.bob) == profile(before, people.bob)
        hers = profile(before, people.ann)
        assert profile(after, people.ann) == hers | {"following_count": hers["following_count"] - 1}


def test_block_shows_to_the_blocked_where_mastodon_shows_it(people):
    """As `blocked_by`, and by the blocker's posts being out of reach."""
    before = people.seen_by(["bob"])["bob"]
    people.act("ann", "bob", BLOCK)
    drain_all()
    after = people.seen_by(["bob"])["bob"]
    changed = {read.path for read, pages in before.items() if after[read] != pages}
    shown = (
        "/api/v1/accounts/relationships",
        f"/api/v1/accounts/{people.ann}/statuses",
        f"/api/v1/statuses/{people.world.statuses[0]}",
        "/api/v1/timelines/public",
    )
    assert [path for path in changed if not path.startswith(shown)] == []
    assert any(path.startswith(shown[0]) for path in changed)


def test_secrets_show_to_those_they_belong_to(people):
    """What is compared above does tell: ann's own answers change with each of them."""
    for act in (QUIET, SPECIAL, NOTIFY, NO_REPOSTS, MUTE, BLOCK, UNBLOCK):
        before = people.seen_by(["ann"])
        people.act("ann", "bob", act)
        with pytest.raises(AssertionError):
            assert_same(before, people.seen_by(["ann"]), "own")


def profile(seen: Answers, account_id: int) -> dict[str, Any]:
    (page,) = next(p for r, p in seen.items() if r.path == f"/api/v1/accounts/{account_id}")
    return orjson.loads(page[1])


def masked(pages: list[tuple[int, bytes, str]], hidden: set[tuple[str, str]]) -> list[Any]:
    return [(status, _masked(orjson.loads(body), hidden), links) for status, body, links in pages]


def _masked(value: Any, hidden: set[tuple[str, str]]) -> Any:
    if isinstance(value, list):
        return [_masked(item, hidden) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {k: v for k, v in value.items() if (value.get("id"), k) not in hidden}
    return {k: _masked(v, hidden) for k, v in kept.items()}
