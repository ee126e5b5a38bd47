"""The pages in German: no English is left on them, and longer words fit."""

import re
from typing import Any

import pytest

from relations.actions.follow import follow
from tests.browser.artifacts import SHOTS
from tests.browser.feeds import enter
from tests.browser.tab import Size, Tab
from tests.callers import Caller
from tests.world import drain_all, publish

SIZES = (Size(400, 860), Size(1280, 900))
OF_GUESTS = ("/auth/sign_in", "/auth/sign_up", "/auth/password", "/public", "/about", "/privacy")
PATHS = (
    "/", "/catch_up", "/@ben", "/@ann", "/@ann/following", "/@ben/mute", "/@ben/block",
    "/@ben/report", "/@ben/note", "/@ben/lists", "/notifications", "/search", "/search?q=ben",
    "/lists", "/scheduled", "/explore", "/people", "/conversations", "/conversations/new",
    "/compose", "/welcome", "/bookmarks", "/follow_requests", "/quiet_followers", "/notices",
    "/settings", *(f"/settings/{name}" for name in (
        "appearance", "profile", "privacy", "password", "email", "sessions", "second_step",
        "reports", "export", "bring", "delete", "filters", "filters/new", "muted", "blocked",
    )),
)  # fmt: skip
ENGLISH = re.compile(r"\b(the|your|you|and|with|of|not|this|they|has|have|is|are)\b", re.IGNORECASE)
NAMES = re.compile(r"\w+:\w+")
# Single lines that are cut, or that are wider than what they are in.
CUT = """[...document.querySelectorAll("button, .button, nav a, h1, label, summary, legend")]
  .filter((one) => !one.closest(".unseen, .skip") && one.checkVisibility())
  .filter((one) => getComputedStyle(one).overflow === "visible"
    ? one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".tabs")
    : one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.textContent.trim())"""
TEXTS = """document.body.innerText + "\\n" +
  [...document.querySelectorAll("[title], [aria-label], [placeholder]")]
    .map((one) => [one.title, one.ariaLabel, one.placeholder].join(" ")).join("\\n")"""


@pytest.fixture(autouse=True)
def acts(ann: int, ben: int) -> None:
    """With posts, a mention, a favourite, a poll and a scheduled post."""
    follow(ann, ben)
    follow(ben, ann)
    caller = Caller(ben)
    poll = {"options": ["Tee", "Kaffee"], "expires_in": 3600}
    for sent in (
        {"status": "@ann Guten Morgen", "language": "de"},
        {"status": "Was trinkst du?", "poll": poll},
        {"status": "@ann Nur zu zweit", "visibility": "direct"},
        {"status": "Hinter der Warnung", "spoiler_text": "Wetter"},
    ):
        assert caller.post("/api/v1/statuses", sent).status_code == 200
    own = publish(ann, "Moin")
    for act in ("favourite", "reblog"):
        assert caller.post(f"/api/v1/statuses/{own.public}/{act}").status_code == 200
    later = {"status": "Bis dann", "scheduled_at": "2999-01-01T12:00"}
    assert Caller(ann).post("/api/v1/statuses", later).status_code == 200
    drain_all()


@pytest.mark.parametrize("size", SIZES)
def test_all_pages_are_german_and_fit(ann: int, tab_of: Any, size: Size) -> None:
    guest: Tab = tab_of(size, locale="de-AT")
    faults = {path: found for path in OF_GUESTS if (found := _look_at(guest, path))}
    tab: Tab = tab_of(size, locale="de-AT")
    enter(tab, ann)
    faults |= {path: found for path in PATHS if (found := _look_at(tab, path))}
    assert faults == {}, "\n".join(f"{path}: {found}" for path, found in faults.items())


def _look_at(tab: Tab, path: str) -> list[str]:
    tab.open(path)
    name = re.sub(r"\W+", "-", path).strip("-") or "home"
    tab.shoot(SHOTS / f"german-{name}-{tab.size.width}.png")
    cut = [f"cut: {text}" for text in tab.run(CUT)]
    wide = tab.overflow_px()
    lines = [line for line in tab.run(TEXTS).split("\n") if ENGLISH.search(NAMES.sub("", line))]
    language = tab.run("document.documentElement.lang")
    return [*cut, *([f"{wide} px too wide"] if wide > 0 else []), *lines] + (
        [] if language == "de" else [language]
    )
