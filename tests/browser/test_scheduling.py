"""A post for later is written, moved and cancelled in a browser, with scripts and without."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.feeds import enter
from tests.browser.tab import PHONE, Size, Tab

pytestmark = pytest.mark.core

TOOL = ".tool[title='Publish later']"
FIELD = "[name=scheduled_at]"
VALUE = f"document.querySelector('{FIELD}').value"


def in_hours(hours: int) -> datetime:
    return datetime.now(UTC) + timedelta(hours=hours)


def field_of(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M}"


def test_a_post_is_scheduled_moved_and_cancelled(ann: int, tab_of) -> None:
    tab: Tab = tab_of(PHONE)
    enter(tab, ann)
    tab.open("/")
    tab.fill("Your post", "The harbour opens at noon")
    tab.expect(tab.find(FIELD)).not_to_be_visible()
    tab.click(TOOL)
    at, later = in_hours(3), in_hours(30)
    tab.type_into(FIELD, field_of(at))
    assert tab.overflow_px() <= 0
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "schedule-390.png")
    tab.press("Schedule")
    tab.see(f"Scheduled for {at.day} {at:%B} {at.year}, {at:%H:%M} UTC.")
    tab.expect(tab.find("#compose-text")).to_have_value("")
    tab.expect(tab.find(FIELD)).not_to_be_visible()
    tab.follow("View")
    tab.at("/scheduled")
    tab.see("The harbour opens at noon")
    tab.click(".scheduled summary")
    written = tab.find(".scheduled output")
    tab.expect(written).to_have_text(f"{at.day} {at:%B} {at.year}, {at:%H:%M} UTC")
    tab.type_into(FIELD, field_of(later))
    tab.expect(written).to_have_text(f"{later.day} {later:%B} {later.year}, {later:%H:%M} UTC")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "scheduled-390.png")
    tab.press("Save")
    tab.see(f"Scheduled for {later.day} {later:%B} {later.year}, {later:%H:%M} UTC.")
    tab.follow("Cancel…")
    tab.see("The harbour opens at noon")
    tab.press("Cancel the post")
    tab.at("/scheduled")
    tab.see_no("The harbour opens at noon")


def test_a_draft_keeps_its_time(ann: int, tab_of) -> None:
    tab: Tab = tab_of()
    enter(tab, ann)
    tab.open("/compose")
    tab.fill("Your post", "half of a thought")
    tab.click(TOOL)
    at = field_of(in_hours(3))
    tab.type_into(FIELD, at)
    tab.wait(f"(localStorage[Object.keys(localStorage)[0]] || '').includes('{at}')")
    tab.open("/compose")
    tab.see("Your draft is back.")
    tab.expect(tab.find(FIELD)).to_be_visible()
    tab.expect(tab.find(FIELD)).to_have_value(at)
    tab.expect(tab.find(".schedule-part output")).to_contain_text(at[-5:])


def test_times_that_people_often_choose_are_one_press(ann: int, tab_of) -> None:
    """In the time zone of the pages, which is not the browser's."""
    tab: Tab = tab_of()
    enter(tab, ann)
    tab.open("/settings/appearance")
    tab.choose("Time zone", "Pacific/Auckland")
    tab.press("Save")
    tab.open("/compose")
    tab.click(TOOL)
    now = datetime.now(ZoneInfo("Pacific/Auckland"))
    morning = now.replace(hour=9, minute=0)
    monday = morning + timedelta(days=7 - morning.weekday())
    for preset, at in (("Tomorrow, 9:00", morning + timedelta(days=1)), ("Monday, 9:00", monday)):
        tab.press(preset)
        tab.expect(tab.find(FIELD)).to_have_value(field_of(at))
        tab.expect(tab.find(".schedule-part output")).to_contain_text(f"{at.day} {at:%B}")
    tab.press("In an hour")
    tab.expect(tab.find(FIELD)).not_to_have_value(field_of(monday))
    chosen = datetime.fromisoformat(tab.run(VALUE)).replace(tzinfo=now.tzinfo)
    assert timedelta(minutes=58) < chosen - now < timedelta(minutes=62)


def test_it_works_without_scripts_in_a_narrow_window(ann: int, tab_of) -> None:
    tab: Tab = tab_of(Size(360, 800), has_scripts=False)
    enter(tab, ann)
    tab.open("/")
    tab.fill("Your post", "without a script")
    tab.click(TOOL)
    tab.expect(tab.find(FIELD)).to_be_visible()
    assert tab.overflow_px() <= 0
    tab.type_into(FIELD, field_of(in_hours(3)))
    tab.shoot(SHOTS / "schedule-360-still.png")
    tab.press("Schedule")
    tab.at("/scheduled")
    tab.see("Scheduled for", "without a script")
