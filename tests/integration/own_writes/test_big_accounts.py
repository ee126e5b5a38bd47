"""A change of a big account's following list shows at the next read in every process (R11).

No invalidation arrives: only the validator, which the next read reads, ends the copy.

An account sees its own writes in the counts of hot accounts too.
"""

import pytest

from accounts.cache import profiles
from accounts.queries.load import find_existing
from counters.cache import account_counts
from relations.queries import big_following
from tests.integration.own_writes.acting import ACCOUNTS, Person, publish
from tests.world import drain_all, make_account


@pytest.fixture
def with_reader(pair, monkeypatch):
    """An actor with a follower, and another account; the reader has the actor's list in memory."""
    monkeypatch.setattr("relations.queries.big_following.BIG_FOLLOWERS", 1)
    actor, other = pair
    reader = Person(make_account())
    reader.act(f"{ACCOUNTS}/{actor.id}/follow")
    drain_all()
    reader.see(f"{ACCOUNTS}/{actor.id}")
    assert listed(reader, actor) == []
    assert big_following._lists.has(int(actor.id))
    return actor, other, reader


def listed(reader, actor):
    return reader.see_ids(f"{ACCOUNTS}/{actor.id}/following")


def test_follow_and_its_end(with_reader):
    actor, other, reader = with_reader
    for _ in range(2):
        actor.act(f"{ACCOUNTS}/{other.id}/follow")
        assert listed(reader, actor) == [other.id]
        actor.act(f"{ACCOUNTS}/{other.id}/unfollow")
        assert listed(reader, actor) == []


def test_follow_that_turns_quiet(with_reader):
    actor, other, reader = with_reader
    actor.act(f"{ACCOUNTS}/{other.id}/follow")
    assert listed(reader, actor) == [other.id]
    actor.act(f"{ACCOUNTS}/{other.id}/follow", {"quiet": True})
    assert listed(reader, actor) == []
    actor.act(f"{ACCOUNTS}/{other.id}/follow", {"quiet": False})
    assert listed(reader, actor) == [other.id]


def test_block_ends_a_follow(with_reader):
    actor, other, reader = with_reader
    actor.act(f"{ACCOUNTS}/{other.id}/follow")
    assert listed(reader, actor) == [other.id]
    actor.act(f"{ACCOUNTS}/{other.id}/block")
    assert listed(reader, actor) == []


@pytest.fixture
def hot_pair(pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch) -> tuple[Person, Person]:
    """Both accounts are hot, and this process has read them."""
    for family in (profiles, account_counts):
        hot = {int(one.id): family.key(int(one.id)) for one in pair}
        monkeypatch.setattr(family.hot, "_hot", hot)
    actor, _ = pair
    for one in (*pair, *pair):
        actor.see(f"{ACCOUNTS}/{one.id}/followers")
        actor.see(f"{ACCOUNTS}/{one.id}")
    find_existing([int(one.id) for one in pair])
    return pair


def test_a_follow_of_a_hot_account_is_counted(hot_pair: tuple[Person, Person]) -> None:
    actor, other = hot_pair
    actor.see(f"{ACCOUNTS}?id[]={other.id}")
    actor.act(f"{ACCOUNTS}/{other.id}/follow")
    assert actor.see(f"{ACCOUNTS}/{other.id}")["followers_count"] == 1
    assert actor.see(f"{ACCOUNTS}?id[]={other.id}")[0]["followers_count"] == 1


def test_a_post_of_a_hot_account_is_counted(hot_pair: tuple[Person, Person]) -> None:
    actor, _ = hot_pair
    publish(actor)
    assert actor.see(f"{ACCOUNTS}/{actor.id}")["statuses_count"] == 1
