"""The language of pages, mails and messages: whose it is, and that languages do not mix."""

import re
from functools import partial

import orjson
import pytest
from django.conf import LazySettings
from django.core import mail
from django.test import Client

from accounts.api.quotas import HOUR_S, SIGN_UPS
from accounts.mails import send_address_changed_mail, send_address_mail, send_reset_mail
from accounts.models import User
from accounts.queries.users import find_language
from infra.caching.quotas import Quotas
from pages.appearance import COOKIE
from tests.integration.pages.browsing import Browser
from tests.races import failures, run_together
from tests.sign_ups import FAST_HASHERS, PASSWORD
from tests.world import make_account

GERMAN, ENGLISH = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}, {"Accept-Language": "en-GB"}
APPEARANCE = "/settings/appearance"
LANG = re.compile(r'<html lang="([a-z]+)"')
FORM = {"username": "ann", "email": "ann@example.org", "password": PASSWORD, "agreement": "true"}


@pytest.fixture(autouse=True)
def quick_hash(world: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PASSWORD_HASHERS = FAST_HASHERS
    monkeypatch.setattr(SIGN_UPS, "_quotas", Quotas(HOUR_S))


def _language_of(client: Client, path: str = "/auth/sign_in", **headers: str) -> str:
    page = client.get(path, headers=headers).content.decode()
    found = LANG.findall(page)
    assert ("Benutzername" in page) == (found == ["de"]) or path != "/auth/sign_in"
    return found[0]


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("de", "de"),
        ("DE-at, en;q=0.8", "de"),
        ("fr-FR, de;q=0.5, en;q=0.4", "de"),
        ("fr-FR, en;q=0.5, de;q=0.4", "en"),
        ("en;q=0", "en"),
        ("fr", "en"),
        ("*", "en"),
        ("", "en"),
        ("de" * 900, "en"),
        ("\x00;;,,=q", "en"),
    ],
)
def test_a_guest_reads_the_language_of_the_browser(accepted: str, language: str) -> None:
    assert _language_of(Client(), **{"Accept-Language": accepted}) == language


def test_else_the_language_of_the_site(settings: LazySettings) -> None:
    settings.SITE_LANGUAGE = "de"
    assert _language_of(Client()) == "de"
    assert _language_of(Client(), **ENGLISH) == "en"


def test_a_page_says_its_language_and_on_what_it_depends() -> None:
    answers = [Client().get("/about", headers=headers) for headers in (GERMAN, ENGLISH)]
    assert [answer["Content-Language"] for answer in answers] == ["de", "en"]
    for answer in answers:
        assert {"Accept-Language", "Cookie"} <= {*answer["Vary"].split(", ")}
        assert "private" in answer["Cache-Control"] and "ETag" not in answer
    assert answers[0].content != answers[1].content


def test_a_choice_is_of_the_account_and_follows_it_to_another_browser(ann_signs_in: int) -> None:
    browser = Browser(ann_signs_in)
    answer = browser.send(APPEARANCE, {"language": "de", "theme": "dark"})
    assert answer.status_code == 303
    assert User.objects.get(pk=ann_signs_in).language == find_language(ann_signs_in) == "de"
    page = browser.read("/")
    assert '<html lang="de"' in page and "Startseite" in page and 'data-theme="dark"' in page
    assert '<option value="de" lang="de" selected>Deutsch</option>' in browser.read(APPEARANCE)
    other = Client()
    other.post("/auth/sign_in", {"username": "ann", "password": PASSWORD}, headers=ENGLISH)
    assert _language_of(other, "/", **ENGLISH) == "de"


def test_no_choice_is_the_browser_again(ann_signs_in: int) -> None:
    browser = Browser(ann_signs_in)
    for language in ("de", ""):
        browser.send(APPEARANCE, {"language": language})
    assert User.objects.get(pk=ann_signs_in).language == ""
    assert _language_of(browser.client, "/", **ENGLISH) == "en"
    assert _language_of(browser.client, "/", **GERMAN) == "de"


@pytest.mark.parametrize("language", ["fr", "de-DE", "../de", "\x00", "x" * 5_000])
def test_what_is_no_language_of_ours_is_no_choice(ann_signs_in: int, language: str) -> None:
    browser = Browser(ann_signs_in)
    browser.send(APPEARANCE, {"language": language})
    assert User.objects.get(pk=ann_signs_in).language == ""
    browser.client.cookies[COOKIE] = f"language={language[:100]}".replace("\x00", "%00")
    assert _language_of(browser.client, "/", **ENGLISH) == "en"


def test_a_guest_chooses_for_the_browser_only() -> None:
    browser = Browser()
    browser.send(APPEARANCE, {"language": "de"})
    assert _language_of(browser.client, **ENGLISH) == "de"


def test_a_new_account_has_the_language_of_the_page_that_made_it() -> None:
    Client().post("/auth/sign_up", FORM, headers=GERMAN)
    assert User.objects.get().language == "de"


def test_languages_do_not_mix_while_pages_are_drawn_at_the_same_time(ann_signs_in: int) -> None:
    """Each thread reads pages of both languages, with all others."""
    asked = [GERMAN, ENGLISH] * 3
    paths = ("/auth/sign_in", "/about", "/public", APPEARANCE)

    def read(headers: dict[str, str]) -> set[tuple[str, str]]:
        client = Client()
        answers = [client.get(path, headers=headers) for path in paths * 3]
        return {(LANG.findall(page.content.decode())[0], page["Content-Language"])
                for page in answers}  # fmt: skip

    answers = run_together(partial(read, headers) for headers in asked)
    assert failures(answers) == []
    assert answers == [{("de", "de")}, {("en", "en")}] * 3


def test_the_api_speaks_english_also_after_a_german_page(
    ann_signs_in: int, settings: LazySettings
) -> None:
    settings.SITE_LANGUAGE = "de"
    client = Client()
    client.get("/auth/sign_in", headers=GERMAN)
    for path, text in (
        ("/api/v1/accounts/verify_credentials", "The access token is invalid"),
        ("/api/v1/accounts/99999", "Record not found"),
    ):
        answer = client.get(path, headers=GERMAN)
        assert orjson.loads(answer.content)["error"] == text
        assert "Content-Language" not in answer


def test_the_admin_speaks_english(ann_signs_in: int) -> None:
    User.objects.filter(pk=ann_signs_in).update(is_staff=True, is_superuser=True)
    client = Client()
    client.post("/auth/sign_in", {"username": "ann", "password": PASSWORD}, headers=GERMAN)
    page = client.get("/admin/", headers=GERMAN).content.decode()
    assert 'lang="en"' in page and "Abmelden" not in page


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"username": "a b"}, "Benutzername darf nur Buchstaben"),
        ({"email": ""}, "E-Mail-Adresse darf nicht leer sein"),
        ({"password": "12345678"}, "Passwort ist zu verbreitet"),
        ({"agreement": ""}, "Zustimmung ist nötig"),
    ],
)
def test_a_refusal_is_in_the_language_of_the_page(change: dict[str, str], text: str) -> None:
    answer = Client().post("/auth/sign_up", {**FORM, **change}, headers=GERMAN)
    assert answer.status_code == 422 and text in answer.content.decode()


def test_pages_of_errors_are_in_the_language_of_the_browser() -> None:
    answer = Client().get("/there_is_no_such_page", headers=GERMAN)
    page = answer.content.decode()
    assert answer.status_code == 404 and "Diese Seite gibt es nicht" in page
    assert '<html lang="de"' in page


@pytest.mark.parametrize(
    ("language", "hello", "subject"), [("de", "Hallo @ann", "Passwort"), ("", "Hello @ann", "pass")]
)
def test_a_mail_is_in_the_language_of_its_receiver(
    ann_signs_in: int, settings: LazySettings, language: str, hello: str, subject: str
) -> None:
    User.objects.filter(pk=ann_signs_in).update(language=language)
    user = User.objects.get(pk=ann_signs_in)
    send_reset_mail(user)
    send_address_mail(user, "new@example.org")
    send_address_changed_mail(user, "old@example.org")
    assert len(mail.outbox) == 3 and subject in mail.outbox[0].subject
    for sent in mail.outbox:
        assert sent.body.startswith(f"{hello},\n\n") and "@" in sent.body
        assert ("Konto" in sent.body or "Passwort" in sent.body) == (language == "de")


def test_a_mail_has_the_language_of_the_site_without_a_choice(
    ann_signs_in: int, settings: LazySettings
) -> None:
    settings.SITE_LANGUAGE = "de"
    send_reset_mail(User.objects.get(pk=ann_signs_in))
    assert mail.outbox[0].body.startswith("Hallo @ann")


def test_counts_say_whose_they_are(ann_signs_in: int) -> None:
    """German has a word for what I do, and another one for what she does."""
    make_account("bob")
    for viewer, word in ((ann_signs_in, "Folge ich"), (None, "Folgt")):
        browser = Browser(viewer)
        for path, part in (("/@ann", 'class="counts"'), ("/@ann/followers", 'class="tabs"')):
            page = browser.client.get(path, headers=GERMAN).content.decode().split("<aside")[0]
            [link] = re.findall(r'href="/@ann/following"[^>]*>(.*?)</a>', page.split(part)[1])
            assert link.endswith(word), (path, link)
