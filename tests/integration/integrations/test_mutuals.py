"""The accounts that follow each other with an account: all of them, how many, and since when."""

import pytest

from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.callers import assert_refused, next_link
from tests.integration.integrations.services import Service
from tests.world import drain_all, make_accounts


@pytest.fixture
def service(world):
    return Service("service:relations")


def path_of(account_id):
    return f"/api/v1/services/mutuals/{account_id}"


def befriend(first, second):
    follow(first, second)
    follow(second, first)


def test_both_must_follow(service):
    ann, *others = make_accounts(6)
    friend, quiet, follower, followee, enemy = others
    befriend(ann, friend)
    follow(ann, quiet, FollowOptions(quiet=True))
    follow(quiet, ann)
    follow(follower, ann)
    follow(ann, followee)
    befriend(ann, enemy)
    block(enemy, ann)
    drain_all()
    found = service.get(path_of(ann)).json()
    assert found["count"] == 2
    assert [each["account_id"] for each in found["mutuals"]] == [str(quiet), str(friend)]
    pairs = {"pairs": [{"account_id": str(friend), "target_id": str(ann)}]}
    since = service.post("/api/v1/services/relations", body=pairs).json()[0]["since_ms"]
    assert found["mutuals"][1]["since_ms"] == since
    unfollow(friend, ann)
    drain_all()
    assert service.get(path_of(ann)).json()["count"] == 1


def test_pages_have_each_once_and_the_whole_count(service):
    ann, *friends = make_accounts(6)
    for friend in friends:
        befriend(ann, friend)
    drain_all()
    path, seen = f"{path_of(ann)}?limit=2", []
    while path:
        answer = service.get(path)
        assert answer.json()["count"] == 5
        seen += [each["account_id"] for each in answer.json()["mutuals"]]
        path = next_link(answer)
    assert seen == [str(friend) for friend in reversed(friends)]


def test_a_page_is_one_statement(service):
    ann, ben = make_accounts(2)
    befriend(ann, ben)
    drain_all()
    service.get(path_of(ann))
    with count_calls() as calls:
        service.get(path_of(ann))
    assert len(calls.statements) == 1


def test_refusals(service):
    (ann,) = make_accounts(1)
    assert service.get(path_of(ann)).json() == {"count": 0, "mutuals": []}
    assert_refused(service.get(path_of(999_999_999)), 404)
    assert_refused(service.get(f"{path_of(ann)}?max_id=x"), 422)
    assert_refused(service.get(f"{path_of(ann)}?limit=x"), 422)
    assert_refused(service.get(path_of(ann), ann), 403)
    assert_refused(Service("service:read").get(path_of(ann)), 403)
