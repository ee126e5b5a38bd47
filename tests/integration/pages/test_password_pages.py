"""A new password by a link in a mail."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.conf import LazySettings
from django.core import mail
from django.test import Client

from accounts.actions import change_password as passwords
from accounts.actions.change_password import MAILS_PER_HOUR
from accounts.api.quotas import HOUR_S, PASSWORD_RESETS, PASSWORDS, QUOTA_PERIOD_S
from accounts.changes import PasswordResetAsked
from accounts.consumers import send_reset_mails
from accounts.models import AccessToken, User
from accounts.types import Restriction
from infra.caching.quotas import Quotas
from infra.changes.registry import Delivery
from tests.integration.pages.browsing import Browser
from tests.races import failures, run_together
from tests.sign_ups import PASSWORD
from tests.world import restrict

NEW = "another fine word"
HOME = "/auth/password"


pytestmark = pytest.mark.usefixtures("ann_signs_in")


@pytest.fixture(autouse=True)
def nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    for counter in (PASSWORD_RESETS, passwords):
        monkeypatch.setattr(counter, "_quotas", Quotas(HOUR_S))


def _link(drain: Callable[[], int], name: str = "ann@example.ORG") -> str:
    Browser().send(HOME, {"name": name})
    drain()
    [found] = re.findall(r"http://localhost:8000(/\S+)", str(mail.outbox[-1].body))
    return str(found)


def test_the_link_works_once_and_ends_all_tokens_and_sessions(
    ann: int, drain: Callable[[], int]
) -> None:
    other = Browser()
    other.send("/auth/sign_in", {"username": "ann", "password": PASSWORD})
    link, browser = _link(drain), Browser()
    assert mail.outbox[-1].to == ["Ann@example.org"]
    assert "@ann" in browser.read(link)
    # Other sites do not get the secret address; our own form needs its origin for the CSRF check.
    assert browser.client.get(link)["Referrer-Policy"] == "same-origin"
    assert browser.send(link, {"password": NEW}).status_code == 303
    assert "@ann" in browser.read("/")
    assert other.client.get("/")["Location"].startswith("/auth/sign_in")
    assert "_auth_user_id" not in other.client.get("/oauth/authorize").wsgi_request.session
    assert AccessToken.objects.count() == 1
    assert browser.send(link, {"password": "a third fine word"}).status_code == 410
    assert User.objects.get().check_password(NEW)


def test_the_answer_is_the_same_for_a_name_that_has_no_account(
    ann: int, drain: Callable[[], int]
) -> None:
    names = ("ann", "Ann@Example.org", "cyd", "cyd@example.org", "")
    answers = {Browser().send(HOME, {"name": name}).content for name in names}
    drain()
    assert len(answers) == 1
    assert len(mail.outbox) == 1


def test_a_weak_password_and_a_wrong_link_are_refused(ann: int, drain: Callable[[], int]) -> None:
    link, browser = _link(drain), Browser()
    answer = browser.send(link, {"password": "12345678"})
    assert answer.status_code == 422 and b"too common" in answer.content
    for wrong in (f"{link}x", f"{HOME}/{10**17}/x", f"{HOME}/0/a-b"):
        assert Client().get(wrong).status_code in (404, 410)
    assert User.objects.get().check_password(PASSWORD)


def test_a_suspended_account_gets_no_mail_and_its_link_ends(
    ann: int, drain: Callable[[], int]
) -> None:
    link = _link(drain)
    restrict(ann, Restriction.SUSPENDED)
    Browser().send(HOME, {"name": "ann"})
    drain()
    assert len(mail.outbox) == 1
    Browser().read(link, 410)


def test_an_address_asks_so_often_and_no_more(ann: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PASSWORD_RESETS, "_most", 1)
    answers = [Browser().send(HOME, {"name": "ann"}).status_code for _ in range(2)]
    assert answers == [200, 429]


def test_a_replay_sends_no_old_mail(ann: int) -> None:
    now = datetime.now(UTC)
    for age, sent in ((timedelta(hours=2), 0), (timedelta(minutes=2), 1)):
        one = Delivery(1, ann, now - age, PasswordResetAsked())
        send_reset_mails("default", [one, one])
        assert len(mail.outbox) == sent


def test_a_site_without_a_mail_server_says_so(ann: int, settings: LazySettings) -> None:
    settings.MAIL_URL = ""
    assert "cannot send mails" in Browser().read(HOME)


def test_a_mailbox_gets_so_many_mails_and_no_more(ann: int, drain: Callable[[], int]) -> None:
    for _ in range(MAILS_PER_HOUR + 1):
        assert Browser().send(HOME, {"name": "ann"}).status_code == 200
        drain()
    assert len(mail.outbox) == MAILS_PER_HOUR


def test_of_requests_with_one_link_at_once_one_signs_in(ann: int, drain: Callable[[], int]) -> None:
    link = _link(drain)
    browsers = [Browser() for _ in range(4)]
    words = [f"{NEW} {n}" for n in range(4)]
    answers = run_together(
        [
            partial(browser.send, link, {"password": word})
            for browser, word in zip(browsers, words, strict=True)
        ]
    )
    assert failures(answers) == []
    assert sorted(answer.status_code for answer in answers) == [303, 410, 410, 410]
    [first] = [n for n, answer in enumerate(answers) if answer.status_code == 303]
    assert User.objects.get().check_password(words[first])
    assert "@ann" in browsers[first].read("/")
    assert AccessToken.objects.count() == 1


def test_the_form_of_a_link_is_a_try_of_a_password(
    ann: int, drain: Callable[[], int], settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = _link(drain)
    monkeypatch.setattr(PASSWORDS, "_quotas", Quotas(QUOTA_PERIOD_S))
    settings.PASSWORDS_PER_ADDRESS = 1
    answers = [Browser().send(link, {"password": "12345678"}).status_code for _ in range(2)]
    assert answers == [422, 429]
