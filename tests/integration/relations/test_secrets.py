"""Quiet and special follows, blocks, mutes and account lists stay secret.

By difference: the same world with and without the secret gives others the same bytes, at every
endpoint there is, from warm caches, from cold ones, and before the drain has delivered.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson
import pytest
from django.test import Client

from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from tests.callers import Caller
from tests.reads import Read, World, all_reads, answers
from tests.world import drain_all, forget_keys, make_account, publish

pytestmark = pytest.mark.slow

Answers = dict[Read, list[tuple[int, bytes, str]]]
Write = tuple[str, dict[str, Any]]

# A page that leaves posts out shows nothing that the whole page does not. A search without results,
# or for all people, shows nothing that the searches for ann and for bob do not.
LESS = re.compile(
    r"\?(exclude_re|exclude_direct|only_|pinned|local|remote|tagged|any|all|none|q=fay|q=pers|q=@)"
)
FOLLOW: Write = ("follow", {})
QUIET: Write = ("follow", {"quiet": True})
OPEN: Write = ("follow", {"quiet": False})
SPECIAL: Write = ("follow", {"special": True})
NOTIFY: Write = ("follow", {"notify": True})
NO_REPOSTS: Write = ("follow", {"reblogs": False})
UNFOLLOW: Write = ("unfollow", {})
BLOCK: Write = ("block", {})
UNBLOCK: Write = ("unblock", {})
MUTE: Write = ("mute", {})
MUTE_FOR_AN_HOUR: Write = ("mute", {"duration": 3600, "notifications": False})


class Secret(NamedTuple):
    """One of ann's writes, or several, that the watchers must not see.

    Several share a step where each of them would be seen alone: a step reads everything.
    """

    writes: tuple[Write, ...]
    watchers: tuple[str, ...]


THIRDS = ("anonymous", "fay")
EVERYBODY = (*THIRDS, "bob")
OF_A_FOLLOW = (SPECIAL, NOTIFY, NO_REPOSTS, MUTE_FOR_AN_HOUR)
# From one public state of ann and bob, each to the next: what is a secret to others changes
# nothing of what they see.
HISTORIES: dict[str, tuple[tuple[Write, ...], tuple[Secret, ...]]] = {
    "unrelated": (
        (),
        (
            Secret((MUTE,), EVERYBODY),
            Secret((QUIET, *OF_A_FOLLOW), THIRDS),
            Secret((UNFOLLOW,), THIRDS),
            Secret((BLOCK,), THIRDS),
            Secret((UNBLOCK,), THIRDS),
        ),
    ),
    "an open follow": ((FOLLOW,), (Secret(OF_A_FOLLOW, EVERYBODY),)),
    "a quiet follow": ((QUIET,), (Secret(OF_A_FOLLOW, ("bob",)),)),
    "a block of a followee": ((FOLLOW, BLOCK), (Secret((UNBLOCK,), THIRDS),)),
}


class People:
    """Ann and bob, and fay who follows both and is followed by both."""

    def __init__(self) -> None:
        self.names = ("ann", "bob", "fay")
        self.ann, self.bob, self.fay = ids = [make_account(name) for name in self.names]
        self.callers = dict(zip(self.names, map(Caller, ids), strict=True))
        for other in ("ann", "bob"):
            self.write("fay", other, FOLLOW)
            self.write(other, "fay", FOLLOW)
        posts = [publish(author).public for author in ids][:2]
        self.list_id = create_account_list(self.ann, "close").list_id
        lists = [str(self.list_id)]
        self.world = World(dict(zip(ids, self.names, strict=True)), posts, lists)
        self.reads = [one for one in all_reads(self.world) if not LESS.search(one.path)]
        drain_all()

    def write(self, actor: str, target: str, write: Write) -> None:
        verb, body = write
        answer = self.callers[actor].post(f"/api/v1/accounts/{getattr(self, target)}/{verb}", body)
        assert answer.status_code == 200, answer.content

    def seen_by(self, watchers: Iterable[str]) -> dict[str, Answers]:
        """All that an account can read, after the process's own copies are dropped."""
        clients = {name: self._client(name) for name in watchers}
        return {name: answers(client, self.reads) for name, client in clients.items()}

    def _client(self, name: str) -> Client:
        return self.callers[name].client if name in self.callers else Client()


@pytest.fixture
def all_sides(world, settings) -> People:
    settings.QUOTA_PER_ACCOUNT = 1_000_000
    return People()


@pytest.mark.parametrize(("before", "secrets"), HISTORIES.values(), ids=HISTORIES)
def test_others_get_the_same_bytes(all_sides, before, secrets):
    for write in before:
        all_sides.write("ann", "bob", write)
    drain_all()
    without = all_sides.seen_by(secrets[0].watchers)
    for number, secret in enumerate(secrets):
        for write in secret.writes:
            all_sides.write("ann", "bob", write)
        for when, prepare in (
            ("before the drain", lambda: None),
            ("warm", drain_all),
            ("cold", forget_keys),
        ):
            prepare()
            assert_same(without, all_sides.seen_by(secret.watchers), f"{when}, step {number}")


def assert_same(before: dict[str, Answers], after: dict[str, Answers], when: str) -> None:
    """What each of those who read after has read before."""
    for watcher, reads in after.items():
        for read, pages in reads.items():
            assert pages == before[watcher][read], (when, watcher, read)


def test_rosters_show_to_their_owner_alone(all_sides):
    all_sides.write("ann", "bob", FOLLOW)
    drain_all()
    watchers = [*EVERYBODY, "ann"]
    before = all_sides.seen_by(watchers)
    add_members(all_sides.ann, all_sides.list_id, [all_sides.bob])
    create_account_list(all_sides.ann, "distant")
    after = all_sides.seen_by(watchers)
    assert_same(before, {name: after[name] for name in EVERYBODY}, "rosters")
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
    assert_same(before, all_sides.seen_by(EVERYBODY), "drained")


QUIET_TO_THE_FOLLOWEE = {
    "/api/v1/accounts/quiet_followers",
    "/api/v1/accounts/relation_counts",
}
NOTICES = ("/api/v1/notifications", "/api/v2/notifications")


def test_quiet_follow_is_to_its_followee_like_an_open_one(all_sides):
    """Except for bob's list of quiet followers and its count, for bob's notifications, which never
    tell of a quiet follow, and for what all accounts see: ann's follows and their count, and bob's
    follower count.

    Bob's own profile and list count ann. Where bob is listed among others, bob sees himself as the
    others see him.
    """
    all_sides.write("ann", "bob", OPEN)
    drain_all()
    before = all_sides.seen_by(["bob"])["bob"]
    all_sides.write("ann", "bob", QUIET)
    drain_all()
    public = {(str(all_sides.ann), "following_count"), (str(all_sides.bob), "followers_count")}
    for prepare in (lambda: None, forget_keys):
        prepare()
        after = all_sides.seen_by(["bob"])["bob"]
        for read, pages in before.items():
            if read.path.partition("?")[0] in QUIET_TO_THE_FOLLOWEE:
                assert after[read] != pages, read
            elif not read.path.startswith(
                (f"/api/v1/accounts/{all_sides.ann}/following", *NOTICES)
            ):
                assert masked(after[read], public) == masked(pages, public), read
        assert profile(after, all_sides.bob) == profile(before, all_sides.bob)
        hers = profile(before, all_sides.ann)
        assert profile(after, all_sides.ann) == hers | {
            "following_count": hers["following_count"] - 1
        }


def test_block_shows_to_the_blocked_where_mastodon_shows_it(all_sides):
    """As `blocked_by`, and by the blocker and the blocker's posts being out of reach."""
    before = all_sides.seen_by(["bob"])["bob"]
    all_sides.write("ann", "bob", BLOCK)
    drain_all()
    after = all_sides.seen_by(["bob"])["bob"]
    changed = {read.path for read, pages in before.items() if after[read] != pages}
    shown = (
        "/api/v1/accounts/relationships",
        f"/api/v1/accounts/{all_sides.ann}/statuses",
        f"/api/v1/statuses/{all_sides.world.statuses[0]}",
        "/api/v1/timelines/public",
        "/api/v1/statuses?id[]=",
        "/api/v1/accounts/search",
        "/api/v2/search",
        "/api/v1/directory",
        "/api/v1/suggestions",
        "/api/v2/suggestions",
    )
    # The blocker is on no list of another account any more.
    lists = re.compile(r"/api/v1/accounts/\d+/(followers|following|endorsements)\b")
    left = [path for path in changed if not path.startswith(shown) and not lists.match(path)]
    assert left == [], "\n".join(left)
    assert any(path.startswith(shown[0]) for path in changed)


def test_secrets_show_to_those_they_belong_to(all_sides):
    """The comparison works: ann's own answers change with each write."""
    all_sides.reads = [one for one in all_sides.reads if one.template.endswith("/relationships")]
    before = all_sides.seen_by(["ann"])
    for write in (QUIET, SPECIAL, NOTIFY, NO_REPOSTS, MUTE, BLOCK, UNBLOCK):
        all_sides.write("ann", "bob", write)
        after = all_sides.seen_by(["ann"])
        with pytest.raises(AssertionError):
            assert_same(before, after, "own")
        before = after


def profile(seen: Answers, account_id: int) -> dict[str, Any]:
    (page,) = next(p for r, p in seen.items() if r.path == f"/api/v1/accounts/{account_id}")
    return orjson.loads(page[1])


def masked(pages: list[tuple[int, bytes, str]], hidden: set[tuple[str, str]]) -> list[Any]:
    return [(status, _masked(_read(body), hidden), links) for status, body, links in pages]


def _read(body: bytes) -> Any:
    """Documents that are no JSON stay bytes."""
    return orjson.loads(body) if body[:1] in b"{[" else body


def _masked(value: Any, hidden: set[tuple[str, str]]) -> Any:
    if isinstance(value, list):
        return [_masked(item, hidden) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {k: v for k, v in value.items() if (value.get("id"), k) not in hidden}
    return {k: _masked(v, hidden) for k, v in kept.items()}
