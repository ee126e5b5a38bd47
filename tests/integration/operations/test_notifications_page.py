"""The page with the notifications of an account, for support."""

import pytest
from django.urls import reverse

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from operations.queries import notifications as module
from relations.actions.block import block
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.world import drain_all, make_accounts


@pytest.fixture
def followed(operator):
    """An account and its two followers."""
    people = make_accounts(3)
    for follower in people[1:]:
        follow(follower, people[0])
        drain_all()
    return people


def read(browser, account_id, status=200, **query):
    answer = browser.get(reverse("find_notifications", args=[account_id]), query)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def test_it_says_what_the_lists_do_with_each(operator, followed):
    me, first, second = followed
    block(me, first)
    text = read(operator, me)
    assert f"follow by account {second}: shown" in text
    assert f"follow by account {first}: hidden by the rules" in text
    assert "for private mentions" in text
    assert (
        reverse("find_notifications", args=[me])
        in operator.get(reverse("find_account", args=[me])).content.decode()
    )


def test_it_goes_by_key_and_counts_nothing(operator, followed, monkeypatch):
    monkeypatch.setattr(module, "PAGE", 1)
    me, first, second = followed
    newest = fetch_all(
        shard_of(me), "SELECT max(id) FROM notifications_notification WHERE owner_id = %s", (me,)
    )[0][0]
    text = read(operator, me)
    assert (f"account {second}" in text, f"account {first}" in text) == (True, False)
    assert f"?below={newest}" in text
    older = read(operator, me, below=newest)
    assert (f"account {first}" in older, "?below=" in older) == (True, False)
    read(operator, me, below="x", status=404)
    read(operator, me, below="9" * 40, status=404)
    read(operator, 999_999, status=404)
    with count_calls() as calls:
        read(operator, me)
    assert any("notifications_notification" in one.sql for one in calls.statements)
    assert not any("count(" in one.sql.lower() for one in calls.statements)


def test_a_shard_that_is_down_is_named(operator, followed, take_down):
    take_down(shard_of(followed[0]))
    assert f"{shard_of(followed[0])} does not answer" in read(operator, followed[0])
