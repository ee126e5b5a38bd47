"""A new person finds people, and has a home page that is not empty."""

import time

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.feeds import enter, make_named
from tests.browser.live_site import settle
from tests.browser.tab import PHONE, Tab
from tests.browser.test_two_people import sign_up
from tests.pictures import picture
from tests.world import publish
from timelines.trends.actions.compute import compute_trends


def test_after_the_sign_up_there_are_people_to_follow(world: None, tab_of, delivery: None) -> None:
    cora = make_named("cora")
    update_profile(cora, ProfileEdit(is_discoverable=True))
    publish(cora, "The first boat is out")
    for author in (cora, *map(make_named, ("dan", "eve"))):
        publish(author, "We talk about #harbour")
    settle()
    compute_trends(time.time())
    tab: Tab = tab_of(PHONE)
    sign_up(tab, "newcomer")
    tab.at("/welcome")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "welcome-390.png")
    tab.choose_image("input[name=avatar]", "me.png", picture())
    tab.wait("document.querySelector('#preview-avatar').src.startsWith('data:')")
    tab.fill("Name", "New Comer")
    tab.press("Save and continue")
    tab.at("/welcome")
    tab.press("#harbour")
    tab.expect(tab.find("#tags [aria-pressed=true]")).to_have_text("#harbour")
    assert faults_of(tab) == []
    tab.follow("Continue")
    tab.press("Follow @cora")
    tab.expect(tab.find("[aria-label='Following: unfollow @cora']")).to_be_visible()
    assert faults_of(tab) == []
    settle()
    tab.follow("To my home page")
    tab.see("The first boat is out")
    tab.click(".tabs a:text-is('Tags')")
    tab.expect(tab.find(".entry")).to_have_count(3)


def test_people_are_found_under_people_and_while_one_types(world: None, tab_of) -> None:
    cora = make_named("cora")
    update_profile(cora, ProfileEdit(is_discoverable=True))
    publish(cora, "low #tide")
    tab: Tab = tab_of()
    enter(tab, make_named("ann"))
    for path in ("/people", "/people?order=new"):
        tab.open(path)
        tab.see("@cora")
        assert faults_of(tab) == []
    tab.open("/search")
    tab.click("#words")
    below = "document.querySelector('main > .hint').getBoundingClientRect().top"
    before = tab.run(below)
    tab.type_text("cor")
    tab.expect(tab.find(".suggestions a:has-text('@cora')").first).to_be_visible()
    # They are above the page, which does not move.
    assert tab.run(below) == before
    assert faults_of(tab) == []
    tab.click(".suggestions a:has-text('@cora')")
    tab.at("/@cora")
