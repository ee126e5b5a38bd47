"""The admin has no sign-in of its own: each of its sessions is one that the person can end."""

import pytest
from django.conf import LazySettings
from django.contrib.auth.hashers import make_password
from django.test import Client

from accounts.models import AccessToken, User
from pages.sessions import BACKEND
from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.sign_ups import FAST_HASHERS, PASSWORD
from tests.world import drain_all, make_account

NEW = "another fine word"
SIGN_IN = "/auth/sign_in?next=/admin/"


@pytest.fixture
def boss(world: None, settings: LazySettings) -> User:
    settings.PASSWORD_HASHERS = FAST_HASHERS
    rights = {"password": make_password(PASSWORD), "is_staff": True, "is_superuser": True}
    User.objects.filter(pk=make_account("boss")).update(**rights)
    return User.objects.get()


def _signed_in(where: str = "/admin/login/", name: str = "boss") -> Browser:
    browser = Browser()
    page = browser.client.get(where, follow=True)
    address = page.redirect_chain[-1][0] if page.redirect_chain else where
    browser.send(address, {"username": name, "password": PASSWORD, "next": "/admin/"})
    return browser


def test_the_admin_leads_to_the_sign_in_page_and_back(boss: User) -> None:
    assert Client().get("/admin/find/?q=x")["Location"] == "/admin/login/?next=/admin/find/%3Fq%3Dx"
    there = Client().get("/admin/login/?next=/admin/find/%3Fq%3Dx")["Location"]
    assert there == "/auth/sign_in?next=/admin/find/%3Fq%3Dx"
    answer = Client().post(there, {"username": "boss", "password": PASSWORD})
    assert answer["Location"] == "/admin/find/?q=x"
    assert Client().get("/admin/login/")["Location"] == SIGN_IN


def test_its_form_signs_nobody_in(boss: User) -> None:
    browser = Client()
    form = {"username": "boss", "password": PASSWORD, "next": "/admin/"}
    assert browser.post("/admin/login/", form)["Location"] == SIGN_IN
    assert browser.get("/admin/").status_code == 302


def test_end_all_others_ends_the_admin_and_the_consent_page(boss: User) -> None:
    here, there = _signed_in(), _signed_in()
    assert there.read("/admin/")
    assert here.read("/settings/sessions").count("<button") >= 2
    assert AccessToken.objects.filter(user=boss).count() == 2, "each session is in the list"
    here.send("/settings/sessions", {"session": "others"})
    for path in ("/admin/", "/admin/accounts/user/", "/oauth/authorize", "/"):
        where = there.client.get(path)["Location"]
        assert where.startswith(("/auth/sign_in", "/admin/login/")), path
    assert here.read("/admin/")


def test_a_session_without_a_token_signs_nobody_in(boss: User) -> None:
    browser = Client()
    browser.force_login(boss, BACKEND)
    assert browser.get("/admin/").status_code == 302
    assert browser.get("/oauth/authorize")["Location"].startswith("/auth/sign_in")
    assert "_auth_user_id" not in browser.session


def test_to_sign_out_of_the_admin_is_to_sign_out(boss: User) -> None:
    browser = _signed_in()
    assert browser.send("/admin/logout/")["Location"] == "/auth/sign_in"
    assert browser.client.get("/admin/").status_code == 302
    assert not AccessToken.objects.exists()


def test_the_password_is_changed_where_all_people_change_it(boss: User) -> None:
    browser = _signed_in()
    form = {"old_password": PASSWORD, "new_password1": "x" * 20, "new_password2": "x" * 20}
    assert browser.send("/admin/password_change/", form)["Location"] == "/settings/password"
    assert User.objects.get().check_password(PASSWORD)


def test_a_password_that_an_operator_sets_ends_all_sessions(boss: User) -> None:
    ann = make_account("ann")
    phone, browser = Caller(ann), _signed_in()
    form = {"password1": NEW, "password2": NEW, "set-password": "yes"}
    answer = browser.send(f"/admin/accounts/user/{ann}/password/", form)
    assert answer.status_code == 302 and User.objects.get(pk=ann).check_password(NEW)
    drain_all()
    assert phone.get("/api/v1/accounts/verify_credentials").status_code == 401
    assert browser.read("/admin/")


def test_people_who_do_not_work_here_are_told_so(boss: User) -> None:
    User.objects.update(is_staff=False)
    browser = _signed_in()
    page = browser.client.get("/admin/login/?next=/admin/")
    assert page.status_code == 403
    assert b"Sign in with another account" in page.content
