"""The relations of any accounts, for services.

The accounts that follow each other with an account: all of them, how many, and since when.
"""

import pytest

from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused, next_link
from tests.integration.integrations.services import Service
from tests.world import drain_all, make_accounts

PATH = "/api/v1/services/relations"


@pytest.fixture
def service(world):
    return Caller(None, "service:relations")


def pairs_of(*pairs):
    return {"pairs": [{"account_id": str(a), "target_id": str(b)} for a, b in pairs]}


def ask(service, *pairs):
    answer = service.post(PATH, pairs_of(*pairs))
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_what_each_account_does_to_another(service):
    ann, ben, cyd, dot = make_accounts(4)
    follow(ann, ben)
    block(ben, cyd)
    follow(cyd, dot)
    unfollow(cyd, dot)
    answers = ask(service, (ann, ben), (ben, ann), (ben, cyd), (cyd, dot), (ann, ben))
    shown = [(each["following"], each["blocking"], each["requested"]) for each in answers]
    nothing = (False, False, False)
    assert shown == [(True, False, False), nothing, (False, True, False), nothing, shown[0]]
    assert (answers[0]["account_id"], answers[0]["target_id"]) == (str(ann), str(ben))
    assert answers[0]["since_ms"] > 0
    assert answers[1]["since_ms"] is None


def test_it_shows_a_follow_at_once(service):
    ann, ben = make_accounts(2)
    answer = Caller(ann, "write:follows").post(f"/api/v1/accounts/{ben}/follow")
    assert answer.status_code == 200
    assert ask(service, (ann, ben))[0]["following"]


def test_a_thousand_pairs_are_a_statement_a_shard(service):
    people = make_accounts(40)
    pairs = [(a, b) for a in people for b in people if a != b][:1_000]
    follow(*pairs[0])
    with count_calls() as calls:
        answers = ask(service, *pairs)
    assert [each["following"] for each in answers] == [True] + [False] * 999
    assert len(calls.statements) <= 5


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"pairs": []},
        {"pairs": "x"},
        {"pairs": [["1", "2"]]},
        {"pairs": [{"account_id": "1"}]},
        {"pairs": [{"account_id": 1, "target_id": 2}]},
        {"pairs": [{"account_id": "0", "target_id": "2"}]},
        {"pairs": [{"account_id": "x", "target_id": "9" * 50}]},
        pairs_of(*[(1, 2)] * 1_001),
    ],
)
def test_what_is_no_list_of_pairs_is_refused(service, body):
    assert_refused(service.post(PATH, body), 422)


def test_only_a_service_with_the_scope_reads_them(service):
    (ann,) = make_accounts(1)
    for caller in (
        Caller(ann),
        Caller(ann, "service:relations"),
        Caller(None, "service:changes"),
        Caller(None, "read write follow"),
    ):
        assert_refused(caller.post(PATH, pairs_of((ann, ann))), 403)


@pytest.fixture
def reading_service(world):
    return Service("service:relations")


def path_of(account_id):
    return f"/api/v1/services/mutuals/{account_id}"


def befriend(first, second):
    follow(first, second)
    follow(second, first)


def test_both_must_follow(reading_service):
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
    found = reading_service.get(path_of(ann)).json()
    assert found["count"] == 2
    assert [each["account_id"] for each in found["mutuals"]] == [str(quiet), str(friend)]
    pairs = {"pairs": [{"account_id": str(friend), "target_id": str(ann)}]}
    since = reading_service.post("/api/v1/services/relations", body=pairs).json()[0]["since_ms"]
    assert found["mutuals"][1]["since_ms"] == since
    unfollow(friend, ann)
    drain_all()
    assert reading_service.get(path_of(ann)).json()["count"] == 1


def test_pages_have_each_once_and_the_whole_count(reading_service):
    ann, *friends = make_accounts(6)
    for friend in friends:
        befriend(ann, friend)
    drain_all()
    path, seen = f"{path_of(ann)}?limit=2", []
    while path:
        answer = reading_service.get(path)
        assert answer.json()["count"] == 5
        seen += [each["account_id"] for each in answer.json()["mutuals"]]
        path = next_link(answer)
    assert seen == [str(friend) for friend in reversed(friends)]


def test_a_page_is_one_statement(reading_service):
    ann, ben = make_accounts(2)
    befriend(ann, ben)
    drain_all()
    reading_service.get(path_of(ann))
    with count_calls() as calls:
        reading_service.get(path_of(ann))
    assert len(calls.statements) == 1


def test_refusals(reading_service):
    (ann,) = make_accounts(1)
    assert reading_service.get(path_of(ann)).json() == {"count": 0, "mutuals": []}
    assert_refused(reading_service.get(path_of(999_999_999)), 404)
    assert_refused(reading_service.get(f"{path_of(ann)}?max_id=x"), 422)
    assert_refused(reading_service.get(f"{path_of(ann)}?limit=x"), 422)
    assert_refused(reading_service.get(path_of(ann), ann), 403)
    assert_refused(Service("service:read").get(path_of(ann)), 403)
