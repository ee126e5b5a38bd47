"""Signing in and out of the pages."""

import re

import pytest
from django.test import Client

from accounts.models import AccessToken
from accounts.types import Restriction
from pages.cookie import PAGE_MARK
from pages.sessions import COOKIE
from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.sign_ups import PASSWORD
from tests.world import publish, restrict

FORM = {"username": "ann", "password": PASSWORD}


pytestmark = pytest.mark.usefixtures("ann_signs_in")


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
