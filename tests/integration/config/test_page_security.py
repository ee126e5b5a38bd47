"""What a browser is told about our pages, and that they keep to it."""

import base64
import hashlib
import re

import pytest
from django.contrib import admin
from django.test import Client

from accounts.models import User
from tests.callers import sign_in
from tests.world import make_account

INLINE_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
INLINE_SCRIPT = re.compile(r"<script(?![^>]*(?:src=|application/json))[^>]*>")
INLINE_ATTRIBUTE = re.compile(r"<[^>]+\s(?:style|on[a-z]+)=[\"']")
ELSEWHERE = re.compile(r"<(?:script|link|img)[^>]+(?:src|href)=[\"'](?:https?:)?//")


@pytest.fixture
def operator(world: None) -> Client:
    User.objects.filter(id=make_account("root")).update(is_staff=True, is_superuser=True)
    client = Client()
    sign_in(client, User.objects.get(username="root"))
    return client


def pages() -> list[str]:
    """Every list and every form of the admin, and what else is shown to browsers."""
    models = [(m._meta.app_label, m._meta.model_name) for m in admin.site._registry]
    lists = [f"/admin/{app}/{model}/" for app, model in models]
    forms = [f"{path}add/" for path in lists]
    return [*lists, *forms, "/admin/", "/admin/hot_keys/", "/auth/sign_in", "/api/docs"]


def test_pages_have_nothing_that_their_policy_keeps_from_running(operator: Client):
    looked_at = 0
    for path in pages():
        answer = operator.get(path)
        if answer.status_code != 200:  # of some there is no form, or no list
            continue
        looked_at += 1
        page, policy = answer.content.decode(), answer["Content-Security-Policy"]
        assert "unsafe" not in policy, path
        assert [style for style in INLINE_STYLE.findall(page) if hash_of(style) not in policy] == []
        for forbidden in (INLINE_SCRIPT, INLINE_ATTRIBUTE, ELSEWHERE):
            assert forbidden.search(page) is None, (path, forbidden.search(page))
    assert looked_at > 15


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_forms_stay_here_and_consent_may_lead_to_any_application(operator: Client):
    for path in ("/admin/", "/", "/public", "/settings/profile", "/nowhere"):
        answer = operator.get(path)
        assert "form-action 'self'" in answer["Content-Security-Policy"], path
        assert answer["X-Content-Type-Options"] == "nosniff", path
    assert "form-action" not in operator.get("/auth/sign_in")["Content-Security-Policy"]


@pytest.mark.parametrize("method", ["get", "post"])
def test_no_refusal_of_a_file_is_taken_for_a_page(operator: Client, method: str):
    answer = getattr(operator, method)("/media/nothing")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path", ["/oauth/authorize", "/auth/sign_in", "/auth/sign_up", "/auth/password"]
)
def test_an_application_may_wait_for_the_window_in_which_a_person_signs_in(
    world: None, path: str
) -> None:
    """With another value browsers tell the application that the window was closed."""
    assert Client().get(path)["Cross-Origin-Opener-Policy"] == "unsafe-none"


def test_other_pages_are_cut_off_from_pages_that_opened_them(operator: Client) -> None:
    for path in ("/", "/settings/profile", "/admin/"):
        assert operator.get(path)["Cross-Origin-Opener-Policy"] == "same-origin", path


@pytest.mark.parametrize("path", ["/auth/sign_in", "/api/docs"])
def test_pages_are_framed_by_nobody(world: None, path: str):
    answer = Client().get(path)
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_the_docs_are_drawn_by_files_of_ours(world: None):
    page = Client().get("/api/docs").content.decode()
    files = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(files) >= 5
    for file in files:
        assert file.startswith(("/static/", "/api/docs?")), file
    script = Client().get("/api/docs?script=")
    assert script["Content-Type"].startswith("application/javascript")
    assert b"SwaggerUIBundle" in script.content
