"""The pages for people who use no mouse, or do not see the screen."""

import pytest

from posts.actions.create_post import create_post
from posts.actions.repost import repost
from posts.types import Draft
from relations.actions.follow import follow
from tests.browser.axe import CONTRAST, RUN, faults_of
from tests.browser.feeds import enter, make_named
from tests.browser.tab import Tab
from tests.world import drain_all, publish

GUEST = ("/auth/sign_in", "/auth/sign_up", "/auth/password", "/public", "/nothing")
MEMBER = (
    "/",
    "/@ben",
    "/@ann/replies",
    "/public",
    "/tags/tea",
    "/statuses/{post}",
    "/statuses/{own}/delete",
    "/statuses/{post}/favourites",
    "/notifications",
    "/search?q=tea",
    "/lists",
    "/bookmarks",
    "/conversations",
    "/@ben/following",
    "/@ben/report",
    "/follow_requests",
    "/settings/muted",
)
# What has the focus: its role in our words, and whether one sees that it has it.
FOCUS = """(() => {
  const one = document.activeElement;
  const style = getComputedStyle(one);
  const isSeen = one.matches(":focus-visible")
    && (style.outlineStyle !== "none" || one.matches(".compose textarea"));
  const label = one.labels?.[0]?.textContent;
  return [one.getAttribute("aria-label") || label || one.textContent.trim(), isSeen];
})()"""
MOVING = """[...document.querySelectorAll("*")].filter((one) => {
  const style = getComputedStyle(one);
  return parseFloat(style.transitionDuration) > 0 || style.animationName !== "none";
}).length"""


@pytest.fixture
def names(world: None) -> dict[str, str]:
    ann, ben, cora = map(make_named, ("ann", "ben", "cora"))
    follow(ann, ben)
    post = publish(ben, "A post about #tea with https://tea.example/ for @ann")
    repost(ben, publish(cora, "worth a repost"))
    own = publish(ann, "my own")
    create_post(ben, Draft("hidden text", spoiler_text="a warning"))
    drain_all()
    return {"ann": str(ann), "post": post.public, "own": own.public}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(names: dict[str, str], tab_of, scheme: str) -> None:
    script = RUN if scheme == "light" else CONTRAST
    guest, member = tab_of(scheme=scheme), tab_of(scheme=scheme)
    enter(member, int(names["ann"]))
    faults = {}
    for tab, paths in ((guest, GUEST), (member, MEMBER)):
        for path in paths:
            tab.open(path.format(**names), status=404 if path == "/nothing" else 200)
            faults[path] = faults_of(tab, script)
    assert {path: found for path, found in faults.items() if found} == {}


def test_home_is_walked_by_keyboard(names: dict[str, str], tab_of) -> None:
    tab: Tab = tab_of()
    enter(tab, int(names["ann"]))
    tab.open("/")
    walked = []
    for _ in range(45):
        tab.type_key("Tab")
        text, is_seen = tab.run(FOCUS)
        assert is_seen, text
        walked.append(text.split("\n")[0])
    order = [
        "Skip to the posts",
        "Home",
        "Settings",
        "Sign out @ann",
        "Your post",
        "Reply, 0 replies",
    ]
    places = [
        next((n for n, text in enumerate(walked) if text.startswith(one)), None) for one in order
    ]
    assert places == sorted(places), walked
    tab.open("/")
    tab.type_key("Tab")
    tab.type_key("Enter")
    tab.wait("document.activeElement.id === 'main'")


def test_a_menu_opens_and_closes_by_keyboard(names: dict[str, str], tab_of) -> None:
    tab: Tab = tab_of()
    enter(tab, int(names["ann"]))
    tab.open("/@ann")
    summary = ".entry .menu summary"
    tab.run(f"document.querySelector('{summary}').focus()")
    tab.type_key("Enter")
    tab.see("Delete…")
    tab.type_key("Tab")
    tab.type_key("Escape")
    tab.see_no("Delete…")
    assert tab.run(f"document.activeElement === document.querySelector('{summary}')")


def test_a_button_keeps_the_focus(names: dict[str, str], tab_of) -> None:
    tab: Tab = tab_of()
    enter(tab, int(names["ann"]))
    tab.open("/")
    tab.run("document.querySelector('.act.favourite').focus()")
    tab.type_key("Enter")
    tab.wait("document.activeElement.matches('.act.favourite[aria-pressed=true]')")


def test_nothing_moves_for_who_wants_it_still(names: dict[str, str], tab_of) -> None:
    tab: Tab = tab_of(is_still=True)
    enter(tab, int(names["ann"]))
    tab.open("/")
    assert tab.run(MOVING) == 0
