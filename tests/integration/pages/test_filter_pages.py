"""Filters: their forms, and what they do to posts on pages."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from posts.actions.create_post import create_post
from posts.types import Draft
from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.pages.browsing import Browser, ids_on
from tests.pictures import picture, upload
from tests.world import publish

PAGE = "/settings/filters"
API = "/api/v2/filters"
TEA: dict[str, Any] = {
    "title": "No tea", "context": ["home", "public"], "filter_action": "warn", "expires_in": "3600",
    "keyword_id": ["", "", ""], "keyword": ["tea", "cof", ""], "whole_word": ["0"],
}  # fmt: skip
COLLAPSED = "<summary>Filtered: <bdi>No tea</bdi></summary>"


@pytest.fixture(autouse=True)
def ann_follows_bob(ann: int, bob: int) -> None:
    follow(ann, bob)


def _filters(account_id: int) -> list[dict[str, Any]]:
    return list(Caller(account_id).get(API).json())


def _make(account_id: int, **values: object) -> dict[str, Any]:
    keywords = [{"keyword": "tea"}]
    body = {"title": "No tea", "context": ["home"], "keywords_attributes": keywords, **values}
    return dict(Caller(account_id).post(API, body).json())


def _fields(page: str, name: str) -> list[str]:
    return re.findall(rf'name="{name}" value="([^"]*)"', page)


def test_a_filter_is_made_by_a_form_and_listed(ann: int) -> None:
    browser = Browser(ann)
    answer = browser.send(f"{PAGE}/new", TEA)
    assert (answer.status_code, answer["Location"]) == (303, f"{PAGE}?saved")
    [made] = _filters(ann)
    words = [(one["keyword"], one["whole_word"]) for one in made["keywords"]]
    assert (made["title"], made["context"]) == ("No tea", ["home", "public"])
    assert (made["filter_action"], words) == ("warn", [("tea", True), ("cof", False)])
    left = datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=59) < left <= timedelta(hours=1)
    page = browser.read(f"{PAGE}?saved")
    for text in (
        "Your filter is saved",
        "“<bdi>tea</bdi>”, “<bdi>cof</bdi>”",
        "Home and lists, Public posts",
        "ends ",
    ):
        assert text in page


def test_an_edit_keeps_the_end_and_removes_a_cleared_word(ann: int) -> None:
    browser = Browser(ann)
    browser.send(f"{PAGE}/new", TEA)
    [made] = _filters(ann)
    path = f"{PAGE}/{made['id']}"
    page = browser.read(path)
    ids = _fields(page, "keyword_id")
    assert ids == [*(one["id"] for one in made["keywords"]), "", "", ""]
    assert 'value="keep" selected' in page and page.count('value="0" checked') == 1
    edit = {"title": "Less", "keyword_id": ids, "keyword": ["", "cocoa", "milk", "", ""]}
    browser.send(path, {**TEA, **edit, "whole_word": ["1"], "expires_in": "keep"})
    [edited] = _filters(ann)
    words = [(one["keyword"], one["whole_word"]) for one in edited["keywords"]]
    assert words == [("cocoa", True), ("milk", False)]
    assert (edited["title"], edited["expires_at"]) == ("Less", made["expires_at"])
    browser.send(path, {**TEA, "keyword_id": [], "keyword": [], "expires_in": ""})
    assert _filters(ann)[0]["expires_at"] is None


def test_a_fault_is_shown_with_what_was_typed_in_the_form(ann: int) -> None:
    answer = Browser(ann).send(f"{PAGE}/new", {**TEA, "context": []})
    page = answer.content.decode()
    assert answer.status_code == 422 and 'role="alert"' in page
    assert _fields(page, "keyword")[:2] == ["tea", "cof"] and 'value="3600" selected' in page
    assert _filters(ann) == []


def test_a_filter_is_deleted_after_a_question(ann: int) -> None:
    made, browser = _make(ann), Browser(ann)
    assert "Delete the filter “<bdi>No tea</bdi>”?" in browser.read(f"{PAGE}/{made['id']}/delete")
    assert browser.send(f"{PAGE}/{made['id']}/delete")["Location"] == PAGE
    assert _filters(ann) == []
    browser.read(f"{PAGE}/{made['id']}", 404)


def test_an_ended_filter_says_so(ann: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _make(ann, expires_in=60)
    end = datetime.fromisoformat(made["expires_at"])
    monkeypatch.setattr("pages.views.filters.datetime", _Clock(end + timedelta(seconds=1)))
    assert "· ended " in Browser(ann).read(PAGE)


class _Clock:
    """`datetime` with a fixed present."""

    fromisoformat = datetime.fromisoformat

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self, zone: object) -> datetime:
        return self._now


PAGES: Mapping[str, str] = {
    "home": "/",
    "public": "/public",
    "account": "/@bob",
    "thread": "/statuses/{answer}",
    "notifications": "/notifications",
}


@pytest.mark.parametrize("place", PAGES)
def test_a_filter_acts_in_its_places_only(
    ann: int, bob: int, drain: Callable[[], int], place: str
) -> None:
    post = publish(bob, "@ann some tea?")
    answered = create_post(ann, Draft("no", in_reply_to=post))
    drain()
    browser, path = Browser(ann), PAGES[place].format(answer=answered.public)
    for contexts, action in (([place], "warn"), ([], "warn"), ([place], "hide")):
        contexts = contexts or [one for one in PAGES if one != place]
        made = _make(ann, context=contexts, filter_action=action)
        page = browser.read(path)
        is_here = f'id="post-{post.public}"' in page
        assert (COLLAPSED in page) is (place in contexts and action == "warn")
        assert is_here is (action != "hide")
        Caller(ann).delete(f"{API}/{made['id']}")


def test_a_warning_is_kept_inside_and_acts_open_the_post(
    ann: int, bob: int, drain: Callable[[], int]
) -> None:
    post = create_post(bob, Draft("with milk", spoiler_text="tea"))
    drain()
    _make(ann)
    browser = Browser(ann)
    page = browser.read("/")
    assert (
        page.index(COLLAPSED)
        < page.index('<summary dir="auto">tea</summary>')
        < page.index("with milk")
    )
    assert ids_on(page) == [post.public]
    assert COLLAPSED not in browser.act(f"/statuses/{post.public}/favourite")
    assert COLLAPSED not in Browser(bob).read("/@bob")


def test_a_filter_of_images_covers_them_only(
    ann: int, bob: int, settings: LazySettings, tmp_path: Path
) -> None:
    settings.MEDIA_DIR = str(tmp_path)
    author = Caller(bob, "read write")
    image = author.client.post("/api/v2/media", {"file": upload(picture())}).json()
    author.post("/api/v1/statuses", {"status": "tea", "media_ids": [image["id"]]})
    browser = Browser(ann)
    assert "<summary>Show" not in browser.read("/@bob")
    _make(ann, context=["account"], filter_action="blur")
    page = browser.read("/@bob")
    assert "<summary>Show filtered photo</summary>" in page and COLLAPSED not in page
