"""A guest's home, the welcome of a new account, and a page that is not there."""

from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.site_texts.models import SiteTexts
from accounts.site_texts.queries import forget_site_description
from pages.api_client import ApiAnswer, ApiClient, ApiRefused
from pages.views.timelines import TREND_POSTS
from pages.writing import writing_of
from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.people import cast
from tests.world import drain_all, publish

people = cast(3)
FRAME = '<nav aria-label="Main">'


def test_a_guest_reads_what_the_site_is_and_who_runs_it(people) -> None:
    SiteTexts.objects.create(summary="A harbour for makers", run_by="The harbour office")
    forget_site_description()
    publish(people[0], "The kettle is on")
    drain_all()
    page = Browser().read("/")
    for text in (
        "A harbour for makers",
        "Run by The harbour office",
        "/auth/sign_up",
        "The kettle",
    ):
        assert text in page


def test_a_guest_s_home_is_there_while_trends_are_not(people, monkeypatch) -> None:
    def get(self: ApiClient, path: str, *more: Any) -> ApiAnswer:
        if path == TREND_POSTS:
            raise ApiRefused(503, "Temporarily unavailable, try again", {})
        return whole(self, path, *more)

    whole = ApiClient.get
    monkeypatch.setattr(ApiClient, "get", get)
    page = Browser().read("/")
    assert "What people write" in page and "Liked here" not in page


def test_a_site_without_texts_says_what_it_is_for(people) -> None:
    page = Browser().read("/")
    assert "A place to follow people" in page and "Run by" not in page


def test_welcome_has_no_frame_and_shows_the_home_that_comes(people) -> None:
    ann, bob, _ = people
    browser = Browser(ann)
    first = browser.read("/welcome?step=people")
    assert FRAME not in first and "Your home so far" not in first
    publish(bob, "The kettle is on")
    follow(ann, bob)
    drain_all()
    page = browser.read("/welcome?step=people")
    assert "Your home so far" in page and "The kettle is on" in page


def test_what_is_not_there_is_said_in_the_frame_of_the_page(people) -> None:
    mine = Browser(people[0])
    for path in ("/nothing-here", "/statuses/1", "/tags/a/no"):
        page = mine.read(path, 404)
        assert FRAME in page and "There is no such page" in page
        guest = Browser().read(path, 404)
        assert FRAME in guest and "There is no such page" in guest
    assert mine.send("/nothing-here").status_code == 404
    answer = Caller(people[0]).get("/api/v1/nothing-here")
    assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})


def test_how_long_something_is_left_is_rounded_up() -> None:
    left = writing_of("en").left
    now = datetime.now(UTC)
    times = {-5: "", 20: "1m", 61: "2m", 3_700: "62m", 86_500: "25h", 30 * 86_400: "30d"}
    for seconds, text in times.items():
        assert left((now + timedelta(seconds=seconds)).isoformat()) == text
