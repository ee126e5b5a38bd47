"""Settings: profile, privacy, password, sessions, the own data, and the end of an account.

Signing in and out of the pages.
"""

import io
import re
import zipfile
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client

from accounts.models import AccessToken, User
from accounts.types import Restriction
from pages.cookie import PAGE_MARK
from pages.sessions import COOKIE
from tests.callers import Caller, token_of
from tests.integration.pages.browsing import Browser
from tests.pictures import picture, upload
from tests.sign_ups import PASSWORD
from tests.world import make_account, publish, restrict

NEW = "another fine word"
OWN_PAGES = ("password", "sessions", "export", "delete")
ASKING = {"password": "current", "export": "password", "delete": "password"}


pytestmark = pytest.mark.usefixtures("ann_signs_in")


def _signed_in() -> Browser:
    browser = Browser()
    browser.send("/auth/sign_in", {"username": "ann", "password": PASSWORD})
    return browser


def _me(account_id: int) -> dict[str, object]:
    return dict(Caller(account_id).get("/api/v1/accounts/verify_credentials").json())


def test_the_profile_is_changed_and_shown_again(ann: int) -> None:
    form = {
        "display_name": "Ann <b>", "note": "by the sea", "bot": "on",
        "field_name": ["Web", "", "", ""], "field_value": ["https://ann.example", "", "", ""],
    }  # fmt: skip
    browser = Browser(ann)
    answer = browser.send("/settings/profile", form)
    assert (answer.status_code, answer["Location"]) == (303, "/settings/profile?saved")
    page = browser.read("/settings/profile?saved")
    for text in ("Ann &lt;b&gt;", "by the sea", "https://ann.example", "changes are saved"):
        assert text in page
    assert _me(ann)["bot"] is True


def test_a_value_without_a_name_has_the_one_that_its_row_suggests(ann: int) -> None:
    form = {"field_name": ["", "", "", ""], "field_value": ["ann.example", "", "the quay", ""]}
    assert Browser(ann).send("/settings/profile", form).status_code == 303
    assert [(one["name"], one["value"]) for one in _me(ann)["source"]["fields"]] == [
        ("Website", "ann.example"),
        ("Town", "the quay"),
    ]
    five = {"field_name": list("abcde"), "field_value": list("12345")}
    assert Browser(ann).send("/settings/profile", five).status_code == 422


def test_a_fault_is_shown_with_what_was_typed(ann: int) -> None:
    form = {"display_name": "x" * 101, "note": "by the sea", "field_value": "v", "field_name": ""}
    answer = Browser(ann).send("/settings/profile", form)
    page = answer.content.decode()
    assert answer.status_code == 422 and 'role="alert"' in page
    assert "by the sea" in page and "x" * 101 in page


def test_privacy_is_what_the_boxes_say(ann: int) -> None:
    browser = Browser(ann)
    form = {"locked": "on", "hide_collections": "on", "privacy": "private", "language": "de"}
    browser.send("/settings/privacy", form)
    me = _me(ann)
    flags = ("locked", "hide_collections", "discoverable", "indexable")
    assert [me[name] for name in flags] == [True, True, False, False]
    source = me["source"]
    assert isinstance(source, dict)
    assert (source["privacy"], source["sensitive"], source["language"]) == ("private", False, "de")
    assert browser.read("/settings/privacy").count(" checked") == 2
    assert source["home_replies"] == "followed", "the form may be of an earlier release"
    browser.send("/settings/privacy", {**form, "home_replies": "none"})
    assert 'value="none" selected' in browser.read("/settings/privacy")


def test_a_new_password_ends_all_other_browsers(ann: int) -> None:
    browser, other = _signed_in(), _signed_in()
    form = {"current": PASSWORD, "password": NEW}
    assert browser.send("/settings/password", form).status_code == 303
    assert "@ann" in browser.read("/settings/password?saved")
    assert other.client.get("/")["Location"].startswith("/auth/sign_in")
    assert AccessToken.objects.count() == 1


@pytest.mark.parametrize("page", ASKING)
def test_a_wrong_password_changes_nothing(ann: int, page: str) -> None:
    browser = Browser(ann)
    answer = browser.send(f"/settings/{page}", {ASKING[page]: "wrong", "password": NEW[:4]})
    assert answer.status_code == 422 and b"This is not your password" in answer.content
    browser.read("/settings")


def test_a_browser_that_is_ended_cannot_authorize_applications(ann: int) -> None:
    browser, other = _signed_in(), _signed_in()
    page = browser.read("/settings/sessions")
    assert page.count("this device</span>") == 1
    ended = AccessToken.objects.order_by("pk").last()
    assert ended is not None
    browser.send("/settings/sessions", {"session": str(ended.pk)})
    assert other.client.get("/")["Location"].startswith("/auth/sign_in")
    assert other.client.get("/oauth/authorize")["Location"].startswith("/auth/sign_in")
    browser.read("/settings/sessions")


def test_all_others_end_and_those_of_other_people_do_not(ann: int) -> None:
    bob = Browser(make_account("bob"))
    theirs = AccessToken.objects.get()
    browser, reader = Browser(ann), Caller(ann, "read:statuses write:media")
    assert "May: Read your posts, Change your photos<" in browser.read("/settings/sessions")
    browser.send("/settings/sessions", {"session": str(theirs.pk)})
    browser.send("/settings/sessions", {"session": "others"})
    assert reader.get("/api/v1/timelines/home").status_code == 401
    browser.read("/settings/sessions")
    bob.read("/")


@pytest.mark.parametrize("number", ["9" * 30, "9" * 5_000])
def test_a_number_that_no_session_has_is_ignored(ann: int, number: str) -> None:
    browser = Browser(ann)
    assert browser.send("/settings/sessions", {"session": number}).status_code == 303
    assert "this device</span>" in browser.read(f"/settings/sessions?max_id={number}")


@pytest.mark.parametrize("page", OWN_PAGES)
def test_the_token_of_an_application_does_not_open_them(ann: int, page: str) -> None:
    browser = Browser()
    browser.client.cookies[COOKIE] = token_of(ann)
    for answer in (browser.client.get(f"/settings/{page}"), browser.send(f"/settings/{page}")):
        assert answer["Location"].startswith("/auth/sign_in")


def test_the_archive_has_the_posts(ann: int) -> None:
    post = publish(ann)
    answer = Browser(ann).send("/settings/export", {"password": PASSWORD})
    assert answer["Content-Disposition"].startswith('attachment; filename="ann-')
    assert answer.streaming and not answer.has_header("Content-Length")
    with zipfile.ZipFile(io.BytesIO(b"".join(answer))) as archive:
        assert post.public in archive.read("posts.jsonl").decode()


def test_a_deleted_account_is_gone_at_once(ann: int) -> None:
    post, browser, other = publish(ann), _signed_in(), _signed_in()
    answer = browser.send("/settings/delete", {"password": PASSWORD})
    assert answer.status_code == 200 and b"After 30 days" in answer.content
    assert answer["Clear-Site-Data"] == '"cache", "storage"', "drafts"
    guest = Browser()
    guest.read("/@ann", 404)
    guest.read(f"/statuses/{post.public}", 404)
    other.read("/", 403)
    assert "Sign in" in browser.read("/")
    assert COOKIE not in _signed_in().client.cookies
    assert User.objects.get().restrictions == Restriction.SUSPENDED


def test_a_picture_is_uploaded_and_removed(
    ann: int, settings: LazySettings, tmp_path: Path
) -> None:
    settings.MEDIA_DIR = str(tmp_path)
    browser, before = Browser(ann), _me(ann)["avatar"]
    browser.send("/settings/profile", {"avatar": upload(picture())})
    assert str(_me(ann)["avatar"]).startswith(settings.MEDIA_URL)
    browser.read("/settings/profile?saved")
    for _ in range(2):
        browser.send("/settings/profile", {"remove": "avatar"})
    assert _me(ann)["avatar"] == before
    answer = browser.send("/settings/profile", {"avatar": upload(b"no image")})
    assert answer.status_code == 422 and b'role="alert"' in answer.content


FORM = {"username": "ann", "password": PASSWORD}


def test_a_session_starts_and_ends_with_its_token(ann: int) -> None:
    browser = Browser()
    answer = browser.send("/auth/sign_in", {**FORM, "next": "/public"})
    assert (answer.status_code, answer["Location"]) == (302, "/public")
    cookie = browser.client.cookies[COOKIE]
    assert cookie["httponly"] and cookie["samesite"] == "Lax"
    assert "@ann" in browser.read("/")
    stolen = {"Authorization": f"Bearer {cookie.value}"}
    who = "/api/v1/accounts/verify_credentials"
    assert Client().get(who, headers=stolen).status_code == 200
    for _ in range(2):
        assert browser.send("/auth/sign_out").status_code == 303
    assert Client().get(who, headers=stolen).status_code == 401
    assert "Sign in" in browser.read("/")
    assert not AccessToken.objects.exists()


def test_a_wrong_password_starts_nothing(ann: int) -> None:
    browser = Browser()
    answer = browser.send("/auth/sign_in", {**FORM, "password": "wrong"})
    assert answer.status_code == 200 and b"errorlist" in answer.content
    assert COOKIE not in browser.client.cookies


def test_pages_of_one_person_are_not_for_guests(ann: int) -> None:
    answer = Browser().client.get("/home/new?since_id=1")
    assert answer["Location"] == "/auth/sign_in?next=%2Fhome%2Fnew%3Fsince_id%3D1"
    part = Browser().client.get("/home/new", headers={"HX-Request": "true"})
    assert (part.status_code, part["HX-Redirect"][:13]) == (204, "/auth/sign_in")


def test_a_session_that_ended_elsewhere_asks_to_sign_in(ann: int) -> None:
    browser = Browser(ann)
    browser.client.cookies[COOKIE] = "ended"
    answer = browser.client.get("/")
    assert answer["Location"] == "/auth/sign_in?next=%2F"
    assert answer.cookies[COOKIE].value == ""


def test_a_frozen_account_reads_and_gets_the_reason(ann: int) -> None:
    post, browser = publish(ann), Browser(ann)
    restrict(ann, Restriction.FROZEN)
    answer = browser.send(f"/statuses/{post.public}/favourite")
    assert answer.status_code == 403 and b'role="alert"' in answer.content
    browser.read("/")


def test_a_forged_form_is_refused(ann: int) -> None:
    post, browser = publish(ann), Browser(ann)
    browser.client.handler.enforce_csrf_checks = True
    for path in ("/statuses", f"/statuses/{post.public}/delete", "/auth/sign_out"):
        assert browser.send(path, {"status": "x"}).status_code == 403, path
    assert Caller(ann).get(f"/api/v1/statuses/{post.public}").status_code == 200


def test_browsers_keep_pages_to_go_back_to_but_no_secrets(ann: int) -> None:
    browser = Browser(ann)
    for path in ("/", "/bookmarks", "/settings/profile"):
        assert browser.client.get(path)["Cache-Control"] == "private, no-cache", path
    for path in ("/settings/sessions", "/settings/password", "/settings/email", "/auth/sign_in"):
        assert "no-store" in browser.client.get(path)["Cache-Control"], path
    assert "no-store" in browser.client.get("/", headers={"HX-Request": "1"})["Cache-Control"]


def test_a_page_names_its_session_and_a_sign_out_removes_what_is_kept(ann: int) -> None:
    browser = Browser(ann)
    page, token = browser.read("/"), browser.client.cookies[COOKIE].value
    [mark] = re.findall(r'data-session="(\w+)"', page)
    assert browser.client.cookies[PAGE_MARK].value == mark
    assert mark not in token and token not in page
    answer = browser.send("/auth/sign_out")
    assert answer["Clear-Site-Data"] == '"cache", "storage"'
    assert [answer.cookies[name].value for name in (COOKIE, PAGE_MARK)] == ["", ""]
    assert 'data-session=""' in browser.read("/")


def test_signing_in_again_ends_the_session_before_it(ann: int) -> None:
    browser = Browser()
    for _ in range(2):
        browser.send("/auth/sign_in", FORM)
    assert AccessToken.objects.count() == 1
    browser.read("/settings/sessions")
