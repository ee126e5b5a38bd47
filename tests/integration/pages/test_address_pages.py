"""A new e-mail address, proved by a link in a mail to it."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import LazySettings
from django.core import mail

from accounts.actions import change_email as addresses
from accounts.actions.change_password import MAILS_PER_HOUR
from accounts.api.quotas import EMAIL_CHANGES, HOUR_S
from accounts.changes import EmailChangeAsked, EmailChanged
from accounts.consumers import send_address_changed_mails, send_address_mails
from accounts.mails import send_reset_mail
from accounts.models import User
from infra.caching.quotas import Quotas
from infra.changes.registry import Delivery
from tests.integration.pages.browsing import Browser
from tests.sign_ups import PASSWORD
from tests.world import make_account

PAGE = "/settings/email"
OLD, NEW = "Ann@example.org", "new@example.org"
Drain = Callable[[], int]


pytestmark = pytest.mark.usefixtures("ann_signs_in")


@pytest.fixture(autouse=True)
def nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    for counter in (EMAIL_CHANGES, addresses):
        monkeypatch.setattr(counter, "_quotas", Quotas(HOUR_S))


def _ask(browser: Browser, email: str = NEW, password: str = PASSWORD) -> tuple[int, str]:
    answer = browser.send(PAGE, {"email": email, "password": password})
    return answer.status_code, answer.headers.get("Location", "")


def _link(browser: Browser, drain: Drain, email: str = NEW) -> str:
    assert _ask(browser, email) == (303, f"{PAGE}?saved")
    drain()
    return _link_in(-1)


def _link_in(place: int) -> str:
    [found] = re.findall(r"http://localhost:8000(/\S+)", str(mail.outbox[place].body))
    return str(found)


def _email(account_id: int) -> str:
    return User.objects.get(pk=account_id).email


def test_the_address_changes_when_its_link_is_used_and_the_old_one_hears_of_it(
    ann: int, drain: Drain
) -> None:
    browser = Browser(ann)
    link = _link(browser, drain)
    assert mail.outbox[-1].to == [NEW] and _email(ann) == OLD
    send_reset_mail(User.objects.get(pk=ann))
    assert NEW in browser.read(link) and _email(ann) == OLD
    assert browser.send(link)["Location"] == f"{PAGE}?changed"
    drain()
    assert _email(ann) == NEW and NEW in browser.read(f"{PAGE}?changed")
    warning = mail.outbox[-1]
    assert warning.to == [OLD] and NEW not in str(warning.body)
    assert browser.send(link).status_code == 410
    drain()
    assert len(mail.outbox) == 3
    Browser().read(_link_in(1), 410)


def test_the_answer_is_the_same_for_an_address_that_is_taken(ann: int, drain: Drain) -> None:
    User.objects.filter(pk=make_account("bob")).update(email="Bob@example.org")
    browser = Browser(ann)
    assert _ask(browser, "bob@Example.org") == _ask(browser) == (303, f"{PAGE}?saved")
    drain()
    assert [sent.to for sent in mail.outbox] == [[NEW]]


def test_an_address_that_was_taken_since_the_mail_is_refused(ann: int, drain: Drain) -> None:
    browser = Browser(ann)
    link = _link(browser, drain)
    User.objects.filter(pk=make_account("bob")).update(email=NEW.upper())
    answer = browser.send(link)
    assert answer.status_code == 422 and b"already been taken" in answer.content
    drain()
    assert _email(ann) == OLD and len(mail.outbox) == 1


def test_a_text_that_is_no_new_address_is_refused(ann: int, drain: Drain) -> None:
    for email in ["", "ann", "a@b", f"{'x' * 250}@example.org", OLD.lower()]:
        status, _ = _ask(Browser(ann), email)
        drain()
        assert status == 422 and not mail.outbox, email


def test_without_the_password_no_mail_is_sent(ann: int, drain: Drain) -> None:
    assert _ask(Browser(ann), password="wrong")[0] == 422
    drain()
    assert not mail.outbox


def test_only_the_user_who_asked_can_use_the_link(ann: int, drain: Drain) -> None:
    link, bob = _link(Browser(ann), drain), make_account("bob")
    assert Browser().client.get(link)["Location"].startswith("/auth/sign_in?next=%2Fsettings")
    stranger = Browser(bob)
    stranger.read(link, 410)
    assert stranger.send(link).status_code == 410
    assert (_email(ann), _email(bob)) == (OLD, "")


def test_a_link_survives_signing_in_and_ends_with_the_password(ann: int, drain: Drain) -> None:
    link, browser = _link(Browser(ann), drain), Browser()
    browser.send("/auth/sign_in", {"username": "ann", "password": PASSWORD})
    browser.read(link)
    address, token = link.split("/")[-2:]
    for wrong in (f"{link}x", f"{PAGE}/%FF/{token}", f"{PAGE}/{address[:-4]}/{token}"):
        browser.read(wrong, 410)
    changed = {"current": PASSWORD, "password": "another fine word"}
    browser.send("/settings/password", changed)
    assert browser.send(link).status_code == 410 and _email(ann) == OLD


def test_requests_of_an_address_and_mails_of_an_account_have_limits(
    ann: int, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(ann)
    for number in range(MAILS_PER_HOUR + 1):
        assert _ask(browser, f"new{number}@example.org")[0] == 303
        drain()
    assert len(mail.outbox) == MAILS_PER_HOUR
    monkeypatch.setattr(EMAIL_CHANGES, "_most", 1)
    assert _ask(browser)[0] == 429


def test_a_replay_of_a_request_or_a_change_sends_no_old_mail(ann: int) -> None:
    now = datetime.now(UTC)
    for age, count in ((timedelta(days=2), 0), (timedelta(hours=2), 1), (timedelta(minutes=2), 3)):
        asked = Delivery(1, ann, now - age, EmailChangeAsked(NEW))
        send_address_mails("default", [asked, asked])
        send_address_changed_mails("default", [Delivery(2, ann, now - age, EmailChanged(OLD))])
        assert len(mail.outbox) == count


def test_a_site_without_a_mail_server_says_that_addresses_stay(
    ann: int, settings: LazySettings
) -> None:
    settings.MAIL_URL = ""
    assert "cannot send mails" in Browser(ann).read(PAGE)
