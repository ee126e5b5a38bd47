"""An account sees its own writes in the counts of hot accounts too."""

import pytest

from accounts.cache import profiles
from accounts.queries.load import find_existing
from counters.cache import account_counts
from tests.integration.own_writes.acting import ACCOUNTS, Person, publish


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
