"""Operators let people in again who lost their second step."""

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import AccessToken, User
from tests.callers import sign_in
from tests.world import make_account

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
