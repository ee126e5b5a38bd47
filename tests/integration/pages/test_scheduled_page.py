"""Scheduled posts in a browser: written, listed, moved and cancelled, in the zone of the pages."""

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import orjson
import pytest

from infra.sharding.buckets import shard_of
from pages.appearance import COOKIE
from pages.writing import writing_of
from posts.actions.delete_post import delete_post
from posts.scheduled.actions.publish_due import publish_due
from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.world import make_account, publish

moment = writing_of("en").moment

SCHEDULED = "/api/v1/scheduled_statuses"
EVIL = "</blockquote><script>alert(1)</script>"
ALERT = re.compile(r'role="alert">([^<]*)<')
TOKYO = ZoneInfo("Asia/Tokyo")


def in_minutes(minutes: int, zone: ZoneInfo | None = None) -> str:
    """As a browser sends the field: no seconds and no zone."""
    return f"{datetime.now(zone or UTC) + timedelta(minutes=minutes):%Y-%m-%dT%H:%M}"


def form(minutes: int = 60, /, **more: Any) -> dict[str, Any]:
    return {
        "status": "later", "with_schedule": "on", "scheduled_at": in_minutes(minutes),
        "visibility": "public", **more,
    }  # fmt: skip


def waiting(account_id: int) -> list[Any]:
    posts: list[Any] = Caller(account_id).get(SCHEDULED).json()
    return posts


def run(account_id: int, minutes: int) -> int:
    """The periodic task, at that time."""
    return publish_due(shard_of(account_id), time.time_ns() // 1_000_000 + minutes * 60_000)


@pytest.fixture
def browser(ann: int) -> Browser:
    return Browser(ann)


def test_the_form_schedules_a_post_and_leads_to_the_list(ann: int, browser: Browser) -> None:
    assert 'name="scheduled_at"' in browser.read("/compose")
    poll = {"with_poll": "on", "option": ["tea & milk", "rum"], "expires_in": "300"}
    sent = form(status=f"later {EVIL}", with_warning="on", spoiler_text="tide", key="k1", **poll)
    for _ in range(2):
        answer = browser.send("/statuses", sent)
    [post] = waiting(ann)
    assert (answer.status_code, answer["Location"]) == (303, f"/scheduled?saved={post['id']}")
    assert post["scheduled_at"] == f"{sent['scheduled_at']}:00.000Z"
    page = browser.read(answer["Location"])
    assert (
        f"Scheduled for {writing_of('en').moment(post['scheduled_at'])}." in page
        and EVIL not in page
    )
    for part in ("tide", "tea &amp; milk", "rum", "Everyone", sent["scheduled_at"]):
        assert part in page, part
    assert Caller(ann).get(f"/api/v1/accounts/{ann}/statuses").json() == []


def test_the_time_is_of_the_zone_of_the_pages(ann: int, browser: Browser) -> None:
    browser.client.cookies[COOKIE] = urlencode({"zone": "Asia/Tokyo"})
    sent = form(scheduled_at=in_minutes(60, TOKYO))
    assert browser.send("/statuses", sent).status_code == 303
    [post] = waiting(ann)
    there = datetime.fromisoformat(post["scheduled_at"]).astimezone(TOKYO)
    assert f"{there:%Y-%m-%dT%H:%M}" == sent["scheduled_at"]
    page = browser.read("/scheduled")
    assert f'value="{sent["scheduled_at"]}"' in page and "Asia/Tokyo" in page
    assert f'<output for="at-{post["id"]}">{there.day} ' in page
    # Without UTC, which is another zone.
    assert f"{there:%H:%M}</output>" in page


def test_a_script_gets_an_empty_form_and_where_the_post_is(ann: int, browser: Browser) -> None:
    parent = publish(make_account(), "a question").public
    for more, button in (({"place": "home"}, "Post"), ({"in_reply_to_id": parent}, "Reply")):
        answer = browser.send("/statuses", form(**more), **{"HX-Request": "true"})
        [post, *_] = waiting(ann)
        said = {
            "text": f"Scheduled for {writing_of('en').moment(post['scheduled_at'])}.",
            "href": "/scheduled",
        }
        assert orjson.loads(answer["HX-Trigger"]) == {"posted": said}
        page = answer.content.decode()
        assert f">{button}</span>" in page and "later</textarea>" not in page
        assert 'class="post' not in page
    assert f'href="/statuses/{parent}">A reply' in browser.read("/scheduled")


@pytest.mark.parametrize("at", ["", " ", "soon", "2001-01-01T12:00", "9" * 50, "0001-01-01T00:00"])
def test_a_time_that_is_refused_loses_nothing_and_publishes_nothing(
    ann: int, browser: Browser, at: str
) -> None:
    browser.client.cookies[COOKIE] = urlencode({"zone": "Asia/Tokyo"})
    answer = browser.send("/statuses", form(scheduled_at=at))
    page = answer.content.decode()
    assert answer.status_code == 422 and ALERT.search(page), page
    assert "later</textarea>" in page and re.search(r'name="with_schedule" checked', page)
    assert waiting(ann) == Caller(ann).get(f"/api/v1/accounts/{ann}/statuses").json() == []


def test_a_field_that_is_not_shown_publishes_now(ann: int, browser: Browser) -> None:
    sent = form()
    del sent["with_schedule"]
    assert browser.send("/statuses", sent)["Location"].startswith("/?sent=")
    assert waiting(ann) == []


def test_messages_and_edits_have_no_time(ann: int, browser: Browser) -> None:
    post = publish(ann, "now").public
    for path in ("/conversations/new", f"/statuses/{post}/edit"):
        assert "scheduled_at" not in browser.read(path), path


def test_another_time_is_saved_or_refused_with_the_reason(ann: int, browser: Browser) -> None:
    browser.send("/statuses", form())
    [post] = waiting(ann)
    sent = {"id": post["id"], "scheduled_at": in_minutes(120)}
    answer = browser.send("/scheduled", sent)
    assert answer["Location"] == f"/scheduled?saved={post['id']}"
    [moved] = waiting(ann)
    assert moved["scheduled_at"] == f"{sent['scheduled_at']}:00.000Z"
    for at in ("", "soon", in_minutes(1)):
        answer = browser.send("/scheduled", {**sent, "scheduled_at": at})
        page = answer.content.decode()
        assert answer.status_code == 422 and ALERT.search(page)
        assert f'value="{at}"' in page and "<details open>" in page
        assert (f'<output for="at-{post["id"]}"></output>' in page) == (at in ("", "soon"))
    assert waiting(ann) == [moved]


def test_one_that_was_published_is_not_said_to_be_cancelled(ann: int, browser: Browser) -> None:
    browser.send("/statuses", form(10))
    [post] = waiting(ann)
    cancel = f"/scheduled/{post['id']}/cancel"
    assert "later</blockquote>" in browser.read(cancel)
    assert run(ann, 11) == 1
    change = {"id": post["id"], "scheduled_at": in_minutes(90)}
    for path, data in ((cancel, {}), ("/scheduled", change), ("/scheduled", {**change, "id": "x"})):
        answer = browser.send(path, data)
        assert answer["Location"] == "/scheduled?gone", path
    assert "published already" in browser.read("/scheduled?gone")
    browser.read(cancel, 404)
    [published] = Caller(ann).get(f"/api/v1/accounts/{ann}/statuses").json()
    assert "later" in published["content"]


def test_one_is_cancelled_by_its_author_only(ann: int, browser: Browser) -> None:
    browser.send("/statuses", form())
    [post] = waiting(ann)
    cancel, other = f"/scheduled/{post['id']}/cancel", Browser(make_account())
    other.read(cancel, 404)
    assert other.send(cancel)["Location"] == "/scheduled?gone" and waiting(ann) == [post]
    assert "<article" not in other.read("/scheduled")
    assert browser.send(cancel)["Location"] == "/scheduled"
    assert waiting(ann) == [] and "No posts wait" in browser.read("/scheduled")


def test_one_that_could_not_be_published_says_why(ann: int, browser: Browser) -> None:
    parent = publish(ann, "a question")
    browser.send("/statuses", form(10, in_reply_to_id=parent.public))
    delete_post(parent)
    run(ann, 11)
    [post] = waiting(ann)
    page = browser.read("/scheduled")
    assert post["error"] and f"It was not published: <bdi>{post['error']}</bdi>" in page
    browser.send("/scheduled", {"id": post["id"], "scheduled_at": in_minutes(30)})
    assert "It was not published" not in browser.read("/scheduled")


def test_older_ones_follow_on_another_page(ann: int, browser: Browser) -> None:
    for day in range(1, 22):
        sent = form(day * 1440, status=f"number {day}.", key=str(day))
        assert browser.send("/statuses", sent).status_code == 303
    page = browser.read(f"/scheduled?saved={waiting(ann)[0]['id']}")
    assert "number 21." in page and "number 1." not in page
    [older] = re.findall(r'class="older" href="\?([^"]*)"', page)
    assert "number 1." in browser.read(f"/scheduled?{older}") and "saved" not in older
