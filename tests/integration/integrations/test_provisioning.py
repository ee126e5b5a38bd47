"""Accounts by the ids of the product: created once, changed where they differ, however often."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from django.db import connections

from accounts.changes import UserCreated
from accounts.identities.actions import provision_account
from accounts.identities.actions.provision_account import create_bound_users
from accounts.identities.models import ExternalIdentity
from accounts.identities.queries import find_bound_account
from accounts.models import Account, User
from accounts.types import Restriction
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from integrations.api import provisioning
from moderation.models import Decision
from moderation.types import OWNER_DELETED
from tests.callers import assert_refused, is_disabled, token_of
from tests.dying import Killed, die, dying_at
from tests.integration.integrations.services import Service
from tests.people import Visitor
from tests.races import failures, run_together
from tests.waiting import until
from tests.world import drain_all, make_account, restrict

DELIVERED = "SELECT kind FROM changes_delivered WHERE owner_id = %s"
ACCOUNTS, IDS = "/api/v1/services/accounts", "/api/v1/services/external_ids"
WHOLE = {
    "username": "Ann",
    "display_name": " Ann A. ",
    "note": "hello",
    "locked": True,
    "bot": False,
    "discoverable": False,
    "indexable": False,
    "hide_collections": True,
}


@pytest.fixture
def service(world):
    return Service("service:accounts")


def put(service, external_id, **fields):
    answer = service.put(f"{ACCOUNTS}/{external_id}", fields)
    assert answer.status_code == 200, answer.content
    return answer.json()


def read_unless_busy(answer):
    if answer.status_code == 503:
        time.sleep(0.05)
        return None
    assert answer.status_code == 200, answer.content
    return answer.json()


def row_of(account_id):
    return Account.objects.of(int(account_id)).get(id=int(account_id))


def test_it_creates_the_account_once(service):
    made = put(service, "u1", **WHOLE)
    assert made == {
        "external_id": "u1",
        "account_id": made["account_id"],
        "username": "ann",
        "suspended": False,
        "created": True,
    }
    again = put(service, "u1", **WHOLE)
    assert again == made | {"created": False}
    assert User.objects.count() == ExternalIdentity.objects.count() == 1
    row = row_of(made["account_id"])
    shown = (row.display_name, row.note, row.is_locked, row.is_discoverable, row.is_indexable)
    assert shown == ("Ann A.", "hello", True, False, False)
    assert row.hides_collections
    assert service.get(f"{ACCOUNTS}/u1").json() == {
        name: value for name, value in made.items() if name != "created"
    }


def test_its_user_signs_in_elsewhere_only(service):
    made = put(service, "u1", username="ann")
    user = User.objects.get(pk=made["account_id"])
    assert not user.has_usable_password()
    assert user.email == ""
    put(service, "u2", username="ben")  # a second one without an address


def test_a_repeated_call_writes_nothing(service):
    made = put(service, "u1", **WHOLE)
    before = row_of(made["account_id"]).version
    put(service, "u1", **WHOLE)
    put(service, "u1")
    assert row_of(made["account_id"]).version == before
    put(service, "u1", note="new", locked=False)
    row = row_of(made["account_id"])
    assert (row.version, row.note, row.is_locked) == (before + 1, "new", False)
    assert row.display_name == "Ann A."


def test_many_calls_at_once_create_one_account(service):
    def put_until_it_is_there():
        """As a backend does: while another call creates the account, the answer is a 503."""
        sent = {"username": "ann", "note": "x"}
        return until(lambda: read_unless_busy(service.put(f"{ACCOUNTS}/u1", sent)))

    answers = run_together([put_until_it_is_there] * 6)
    assert not failures(answers), failures(answers)[0]
    assert len({answer["account_id"] for answer in answers}) == 1
    assert sum(answer["created"] for answer in answers) == 1
    assert User.objects.count() == 1


@pytest.mark.parametrize("imported", ["ann", "ann_of_old"])
def test_an_import_of_the_same_person_at_once_wins(service, monkeypatch, imported):
    """It binds the id after the call has looked for it. Never a 500, nor a name that is taken."""

    def find_before_the_import(identity):
        monkeypatch.setattr(provision_account, "find_bound_account", find_bound_account)
        new = UserCreated(imported, "", datetime.now(UTC))
        assert find_bound_account(identity) is None
        with ThreadPoolExecutor(1) as another:
            another.submit(import_person, identity, new).result()

    monkeypatch.setattr(provision_account, "find_bound_account", find_before_the_import)
    answer = service.put(f"{ACCOUNTS}/u1", {"username": "ann"})
    assert answer.status_code == 200, answer.content
    assert answer.json()["username"] == "ann", "the product has the last word"
    assert ExternalIdentity.objects.count() == User.objects.count() == 1


def import_person(identity, new):
    try:
        assert create_bound_users({identity.subject: new}, {})
    finally:
        connections.close_all()


def test_a_kill_leaves_all_or_nothing(service, monkeypatch):
    monkeypatch.setattr(ExternalIdentity, "save", lambda *_, **__: die())
    with pytest.raises(Killed):
        put(service, "u1", username="ann")
    assert not User.objects.exists()
    monkeypatch.undo()
    assert put(service, "u1", username="ann")["created"]


def test_after_a_kill_the_next_call_writes_the_rest(service):
    with dying_at("changes.committed"):
        put(service, "u1", **WHOLE)
    answer = service.put(f"{ACCOUNTS}/u1", WHOLE)
    assert_refused(answer, 503)
    assert answer["Retry-After"] == "1"
    drain_all()
    made = put(service, "u1", **WHOLE)
    assert not made["created"]
    assert row_of(made["account_id"]).note == "hello"


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, "username"),
        ({"username": "a b"}, "username"),
        ({"username": "x" * 31}, "username"),
        ({"username": "ann", "note": "x" * 501}, "note"),
        ({"username": "ann", "display_name": "x" * 101}, "display_name"),
        ({"username": "ann", "locked": "maybe"}, None),
        ({"username": "ann", "email": "a@b.example"}, None),
        ({"username": 5}, None),
    ],
)
def test_a_wrong_field_is_refused_and_creates_nothing(service, fields, names):
    answer = service.put(f"{ACCOUNTS}/u1", fields)
    assert_refused(answer, 422)
    if names is not None:
        assert [*answer.json()["details"]] == [names]
    assert not User.objects.exists()


def test_a_name_belongs_to_one_account(service):
    make_account("ann")
    assert_refused(service.put(f"{ACCOUNTS}/u1", {"username": "ANN"}), 422)
    put(service, "u1", username="ben")
    answer = service.put(f"{ACCOUNTS}/u1", {"username": "ann", "note": "x"})
    assert_refused(answer, 422)
    assert answer.json()["details"]["username"][0]["description"] == "has already been taken"


@pytest.mark.parametrize("external_id", ["a%20b", ".x", "%C3%A4", "x" * 256, "a%0Ab"])
def test_what_is_no_external_id_is_refused(service, external_id):
    assert_refused(service.put(f"{ACCOUNTS}/{external_id}", {"username": "ann"}), 422)
    assert_refused(service.get(f"{ACCOUNTS}/{external_id}"), 422)


@pytest.mark.parametrize("external_id", ["auth0|5", "a@b.example", "-_~!", "x" * 255, "lookup"])
def test_ids_of_usual_products_are_accepted(service, external_id):
    made = put(service, external_id, username="ann")
    assert service.get(f"{ACCOUNTS}/{external_id}").json()["account_id"] == made["account_id"]


def test_restricted_accounts_and_staff_are_left_alone(service):
    made = put(service, "u1", username="ann")
    account_id = int(made["account_id"])
    for restriction in (Restriction.FROZEN, Restriction.SUSPENDED):
        restrict(account_id, restriction)
        assert_refused(service.put(f"{ACCOUNTS}/u1", {"note": "x"}), 403)
    assert service.get(f"{ACCOUNTS}/u1").json()["suspended"]
    staff = put(service, "u2", username="ben")
    User.objects.filter(pk=staff["account_id"]).update(is_staff=True)
    assert_refused(service.put(f"{ACCOUNTS}/u2", {"note": "x"}), 403)


def test_a_list_gets_an_answer_for_each(service):
    make_account("taken")
    put(service, "u2", username="ben")
    wanted = [
        {"external_id": "u1", "username": "ann", "note": "x"},
        {"external_id": "u2", "note": "y"},
        {"external_id": "u3", "username": "taken"},
        {"external_id": "u4", "nonsense": 1},
        {"external_id": "u5"},
    ]
    answer = service.put(ACCOUNTS, {"accounts": wanted})
    assert answer.status_code == 200, answer.content
    outcomes = answer.json()
    assert [(each["external_id"], each["status"]) for each in outcomes] == [
        ("u1", 200), ("u2", 200), ("u3", 422), ("u4", 422), ("u5", 422),
    ]  # fmt: skip
    assert [outcomes[0]["created"], outcomes[1]["created"]] == [True, False]
    assert "username" in outcomes[2]["details"]
    assert row_of(outcomes[1]["account_id"]).note == "y"


def test_a_list_ends_in_time(service, monkeypatch):
    monkeypatch.setattr(provisioning, "LIST_S", -1.0)
    answer = service.put(ACCOUNTS, {"accounts": [{"external_id": "u1", "username": "ann"}]})
    assert [each["status"] for each in answer.json()] == [503]
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "accounts",
    [
        [],
        "x",
        [{"username": "ann"}],
        [{"external_id": "a b"}],
        [{"external_id": 5}],
        [{"external_id": f"u{n}"} for n in range(101)],
    ],
)
def test_what_is_no_list_of_accounts_is_refused(service, accounts):
    assert_refused(service.put(ACCOUNTS, {"accounts": accounts}), 422)


def test_ids_are_found_in_both_directions(service):
    ids = {name: put(service, name, username=f"n{name}")["account_id"] for name in ("u1", "u2")}
    asked = {"external_ids": ["u2", "nothing", "u1", "u2"]}
    found = service.post(IDS, body=asked).json()
    assert [each["external_id"] for each in found] == ["u2", "u1"]
    assert [each["account_id"] for each in found] == [ids["u2"], ids["u1"]]
    asked = {"account_ids": [ids["u2"], str(make_account()), ids["u1"]]}
    assert service.post(IDS, body=asked).json() == found


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"external_ids": ["a"], "account_ids": ["1"]},
        {"external_ids": [5]},
        {"external_ids": ["a"] * 1_001},
        {"account_ids": {"a": 1}},
    ],
)
def test_what_asks_for_no_ids_is_refused(service, body):
    assert_refused(service.post(IDS, body=body), 422)


def test_only_services_with_the_scope_do_it(world):
    ann = make_account()
    for service, account in ((Service("service:write"), None), (Service(), ann)):
        assert_refused(service.put(f"{ACCOUNTS}/u1", {"username": "x"}, account), 403)
        assert_refused(service.get(f"{ACCOUNTS}/u1", account), 403)
        assert_refused(service.put(ACCOUNTS, {"accounts": []}, account), 403)
        assert_refused(service.post(IDS, account, {"external_ids": ["x"]}), 403)


def test_a_product_deletes_an_account_as_its_person_would(service):
    made = put(service, "u1", username="ann")
    account_id = int(made["account_id"])
    token = token_of(account_id)
    for _ in range(2):
        answer = service.delete(f"{ACCOUNTS}/u1")
        assert answer.status_code == 200
        assert answer.json()["suspended"] is True
    drain_all()
    assert is_disabled(token)
    assert Visitor().status_of(f"/api/v1/accounts/{account_id}") == 404
    row = Decision.objects.get()
    assert (row.kind, row.actor, row.reason) == ("suspend", None, OWNER_DELETED)
    alias = shard_of(account_id)
    kinds = [kind for (kind,) in fetch_all(alias, DELIVERED, (account_id,))]
    assert kinds.count("accounts.account_restricted") == 1
    assert service.get(f"{ACCOUNTS}/u1").json()["suspended"] is True
    assert service.put(f"{ACCOUNTS}/u1", {"note": "again"}).status_code == 403


def test_a_product_deletes_neither_staff_nor_what_it_does_not_know(service):
    made = put(service, "u1", username="ann")
    User.objects.filter(pk=made["account_id"]).update(is_staff=True)
    assert service.delete(f"{ACCOUNTS}/u1").status_code == 403
    assert service.delete(f"{ACCOUNTS}/u2").status_code == 404
    assert service.delete(f"{ACCOUNTS}/.u2").status_code == 422
    assert not Decision.objects.exists()
