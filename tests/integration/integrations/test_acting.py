"""Services that act for accounts: one header, and all endpoints serve them for any account."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from accounts.actions.tokens import end_tokens
from accounts.cache import actors
from accounts.models import AccessToken, Application, User
from accounts.periodic import delete_expired
from accounts.types import Restriction
from infra.caching.client import redis
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused, ids_of, token_of
from tests.integration.integrations.services import Service
from tests.integration.operations.staff import staff_of
from tests.sign_ups import PASSWORD
from tests.world import drain_all, forget_memory, make_accounts, publish, restrict

HOME, MINE = "/api/v1/timelines/home", "/api/v1/accounts/verify_credentials"
POSTS = "/api/v1/statuses"
pytestmark = pytest.mark.usefixtures("world")


def test_each_account_gets_its_own_answers_by_one_token():
    ann, ben, cyd = make_accounts(3)
    follow(ann, cyd)
    post = publish(cyd)
    drain_all()
    service = Service()
    for _ in range(3):  # the process remembers pages
        assert ids_of(service.get(HOME, ann)) == [post.public]
        assert ids_of(service.get(HOME, ben)) == []
        assert service.get(MINE, ann).json()["id"] == str(ann)
        assert service.get(MINE, ben).json()["id"] == str(ben)
        related = f"/api/v1/accounts/relationships?id[]={cyd}"
        shown = [service.get(related, who).json()[0]["following"] for who in (ann, ben)]
        assert shown == [True, False]


def test_what_it_does_names_the_service():
    ann, ben = make_accounts(2)
    service = Service()
    made = service.post(POSTS, ann, {"status": "hello"}).json()
    assert (made["account"]["id"], made["application"]["name"]) == (str(ann), "Backend")
    assert service.post(f"/api/v1/accounts/{ben}/follow", ann).json()["following"]
    assert Caller(ann).get(f"/api/v1/accounts/relationships?id[]={ben}").json()[0]["following"]


def test_an_act_costs_one_round_trip_more():
    (ann,) = make_accounts(1)
    service, caller = Service(), Caller(ann)
    path = f"/api/v1/accounts/{ann}"
    for _ in range(2):
        service.get(path, ann), caller.get(path)
    with count_calls() as own:
        caller.get(path)
    with count_calls() as acted:
        service.get(path, ann)
    assert acted.round_trips <= own.round_trips + 1
    (rights,) = acted.statements
    assert "is_staff" in rights.sql, "nothing tells a cache of rights that a program gives"


@pytest.mark.parametrize("scope", ["service:changes", "service:relations"])
def test_other_services_act_for_no_account(scope):
    (ann,) = make_accounts(1)
    assert_refused(Service(scope).get(MINE, ann), 403)


def test_a_service_that_reads_changes_nothing():
    (ann,) = make_accounts(1)
    service = Service("service:read")
    assert service.get(HOME, ann).status_code == 200
    assert_refused(service.post(POSTS, ann, {"status": "no"}), 403)
    writer = Service("service:write")
    assert writer.post(POSTS, ann, {"status": "yes"}).status_code == 200
    assert_refused(writer.get(HOME, ann), 403)


def test_only_a_service_sends_the_header():
    ann, ben = make_accounts(2)
    for token in (token_of(ann), token_of(ann, "service:read"), token_of(None)):
        client = Client(headers={"Authorization": f"Bearer {token}"})
        assert_refused(client.get(MINE, headers={"Tideline-Account": str(ben)}), 403)
    assert_refused(Client().get(f"{POSTS}/1", headers={"Tideline-Account": str(ben)}), 401)


@pytest.mark.parametrize("text", ["", "ann", "0", "-1", "1,2", "9" * 30, "٣"])
def test_a_header_that_names_no_account_is_refused(text):
    assert_refused(Service().get(MINE, text), 422)


def test_an_unknown_account_is_not_found():
    assert_refused(Service().get(MINE, 999_999_999), 404)


def test_a_suspension_ends_acts_at_once_and_a_freeze_ends_writes():
    (ann,) = make_accounts(1)
    service = Service()
    assert service.get(MINE, ann).status_code == 200
    restrict(ann, Restriction.FROZEN)
    assert service.get(MINE, ann).status_code == 200
    assert_refused(service.post(POSTS, ann, {"status": "no"}), 403)
    restrict(ann, Restriction.SUSPENDED)
    assert_refused(service.get(MINE, ann), 403)
    restrict(ann, Restriction.NONE)
    assert service.post(POSTS, ann, {"status": "yes"}).status_code == 200


@pytest.mark.parametrize("rights", [{"is_staff": True}, {"is_superuser": True}])
def test_no_service_acts_for_staff(rights):
    (ann,) = make_accounts(1)
    User.objects.filter(pk=ann).update(**rights)
    assert_refused(Service().get(MINE, ann), 403)


@pytest.mark.parametrize("right", ["is_staff", "is_superuser"])
@pytest.mark.parametrize("by", ["save", "update"])
def test_rights_given_by_a_program_end_acts_at_the_next_request(right, by):
    (ann,) = make_accounts(1)
    service = Service()
    assert service.get(MINE, ann).status_code == 200
    if by == "save":
        user = User.objects.get(pk=ann)
        setattr(user, right, True)
        user.save()
    else:
        User.objects.filter(pk=ann).update(**{right: True})
    assert_refused(service.get(MINE, ann), 403)


def test_rights_given_in_the_admin_end_acts_at_once():
    (ann,) = make_accounts(1)
    service = Service()
    assert service.get(MINE, ann).status_code == 200
    browser = staff_of("operator")
    User.objects.filter(username="operator_ann").update(is_superuser=True)
    form = {"email": "", "is_staff": "on"}
    answer = browser.post(f"/admin/accounts/user/{ann}/change/", form)
    assert answer.status_code == 302, answer.content
    assert_refused(service.get(MINE, ann), 403)


def test_an_ended_token_acts_for_no_account():
    (ann,) = make_accounts(1)
    service = Service()
    assert service.get(MINE, ann).status_code == 200
    end_tokens(AccessToken.objects.filter(user=None))
    assert_refused(service.get(MINE, ann), 401)


def test_without_redis_and_after_a_flush_it_acts_as_before():
    (ann,) = make_accounts(1)
    service = Service()
    redis()._client.clear()
    forget_memory()
    assert service.get(MINE, ann).json()["id"] == str(ann)


@pytest.mark.parametrize("junk", [b"", b"1", b"1:9999999999:[0]", b"1:9999999999:null", b"x:y:z"])
def test_an_entry_that_cannot_be_read_is_a_miss(junk):
    (ann,) = make_accounts(1)
    service = Service()
    assert service.get(MINE, ann).status_code == 200
    redis().call("SET", actors.key(ann), junk)
    assert service.get(MINE, ann).status_code == 200
    restrict(ann, Restriction.SUSPENDED)
    assert_refused(service.get(MINE, ann), 403)


def test_it_uses_the_quota_of_the_service_and_none_of_the_account(settings):
    (ann,) = make_accounts(1)
    settings.QUOTA_PER_ACCOUNT = 1
    service = Service(quota=3)
    assert [service.get(MINE, ann).status_code for _ in range(4)] == [200, 200, 200, 429]
    assert Caller(ann).get(MINE).status_code == 200


def test_no_user_gets_a_token_with_the_scopes_of_a_service():
    (ann,) = make_accounts(1)
    form = {"username": "eve", "email": "eve@example.org", "password": PASSWORD, "agreement": True}
    service = Service()
    assert_refused(service.post("/api/v1/accounts", ann, form), 403)
    assert not User.objects.filter(username="eve").exists()


def test_a_service_registers_no_device():
    (ann,) = make_accounts(1)
    assert_refused(Service().get("/api/v1/push/subscription", ann), 403)


def test_endpoints_of_services_are_not_for_accounts():
    (ann,) = make_accounts(1)
    assert_refused(Service().get("/api/v1/services/events", ann), 403)


def test_a_service_without_a_quota_outlives_its_tokens():

    service = Service()
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    AccessToken.objects.update(expires=long_ago)
    Application.objects.update(created=long_ago)
    delete_expired(datetime.now(UTC))
    delete_expired(datetime.now(UTC))
    assert Application.objects.filter(client_id=service.made.client_id).exists()
