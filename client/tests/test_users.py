"""From accounts and external ids back to users."""

import pytest
from django.contrib.auth.models import User

from site_double import BOUND, SiteDouble, ok, refused
from tideline_client.contrib.django import users
from tideline_client.contrib.django.models import AccountSync

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(monkeypatch):
    def use(site):
        monkeypatch.setattr(users, "tideline", site.client)
        return site

    return use


def test_known_accounts_need_no_call(ann, ask, django_assert_num_queries):
    ask(SiteDouble(refused(500)))
    ben = User.objects.create_user("ben")
    for user, account in ((ann, "42"), (ben, "43")):
        AccountSync.objects.filter(external_id=user.pk).update(account_id=account)
    with django_assert_num_queries(2):
        assert users.load_users(["43", "42", "43"]) == {"42": ann, "43": ben}
    assert users.find_user("42") == ann


def test_an_account_that_another_program_made_is_asked_for(ann, ask):
    site = ask(SiteDouble(ok([BOUND | {"external_id": str(ann.pk), "account_id": "77"}])))
    assert users.load_users(["77", "78"]) == {"77": ann}
    assert site.bodies() == [{"account_ids": ["77", "78"]}]


def test_an_account_of_no_user_is_none(ann, ask):
    ask(SiteDouble(ok([])))
    assert users.find_user("9") is None
    AccountSync.objects.filter(external_id=ann.pk).update(account_id="42")
    ann.delete()
    assert users.find_user("42") is None


def test_external_ids_of_other_products_are_left_out(ann):
    found = users.load_users_by_external_id([str(ann.pk), "auth0|7", "999"])
    assert found == {str(ann.pk): ann}
