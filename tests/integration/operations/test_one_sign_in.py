"""The admin has no sign-in of its own: each of its sessions is one that the person can end.

Operators let people in again who lost their second step.
"""

import pytest
from django.conf import LazySettings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.hashers import make_password
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import AccessToken, User
from pages.sessions import BACKEND
from tests.callers import Caller, sign_in
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


LIST = "/admin/accounts/user/"
LOST = {"action": "reset_second_steps", "reason": "lost her phone"}


def with_app(name: str, **rights: bool) -> User:
    user = User.objects.get(pk=make_account(name))
    for right, value in rights.items():
        setattr(user, right, value)
    user.save()
    TOTPDevice.objects.create(user=user, name="App")
    sign_in(Client(), user)
    return user


def reset(browser: Client, *users: User, **form: str) -> str:
    sent = {**LOST, **form, "_selected_action": [user.pk for user in users]}
    return browser.post(LIST, sent, follow=True).content.decode()


def test_an_operator_resets_that_of_another(operator: Client) -> None:
    mia = with_app("mia", is_staff=True)
    page = reset(operator, mia)
    assert "1 reset: lost her phone" in page
    assert not TOTPDevice.objects.exists()
    assert not AccessToken.objects.filter(user=mia).exists()
    (entry,) = LogEntry.objects.all()
    assert (entry.object_id, entry.user.username) == (str(mia.pk), "operator_ann")
    assert "lost her phone" in entry.change_message


def test_a_reason_is_needed(operator: Client) -> None:
    mia = with_app("mia")
    assert "give a reason" in reset(operator, mia, reason=" ")
    assert TOTPDevice.objects.exists()


def test_not_ones_own_and_not_a_superusers(operator: Client) -> None:
    own = User.objects.get(username="operator_ann")
    boss = with_app("boss", is_staff=True, is_superuser=True)
    page = reset(operator, own, boss)
    assert "0 reset" in page and "Not reset" in page
    assert TOTPDevice.objects.get().user == boss
    assert not LogEntry.objects.exists()


def test_a_superuser_resets_that_of_a_superuser(world: None) -> None:
    boss = with_app("boss", is_staff=True, is_superuser=True)
    other = User.objects.get(pk=make_account("other"))
    User.objects.filter(pk=other.pk).update(is_staff=True, is_superuser=True)
    browser = Client()
    sign_in(browser, User.objects.get(pk=other.pk))
    assert "1 reset" in reset(browser, boss)


def test_moderators_cannot(moderator: Client) -> None:
    mia = with_app("mia")
    reset(moderator, mia)
    assert TOTPDevice.objects.exists()


@pytest.mark.parametrize("name", ["totp", "static", "webauthn"])
def test_the_admin_shows_no_keys(world: None, name: str) -> None:
    browser = Client()
    sign_in(browser, User.objects.create(username="boss", is_staff=True, is_superuser=True))
    page = browser.get("/admin/").content.decode().lower()
    assert "otp" not in page and "webauthn" not in page
    assert browser.get(f"/admin/otp_{name}/").status_code == 404
