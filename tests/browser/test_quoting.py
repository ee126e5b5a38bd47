"""A quote in a browser: written from the menu of a post, shown as a card, and revoked."""

import pytest

from posts.actions.create_post import create_post
from posts.types import Draft
from relations.actions.follow import follow
from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.feeds import enter, make_named
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.world import drain_all, publish

pytestmark = pytest.mark.core


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_quote_from_the_menu_to_its_revocation(world: None, size: Size, tab_of) -> None:
    ann, ben = make_named("ann"), make_named("ben")
    follow(ann, ben)
    follow(ben, ann)
    original = publish(ben, "The tide tables of the week, with a #map of the harbour.")
    quoting = create_post(ben, Draft("As I said last week:", quoted=original))
    create_post(ann, Draft("Everyone should read this.", quoted=quoting))
    drain_all()
    tab: Tab = tab_of(size)
    name = f"quotes-{size.width}"
    enter(tab, ann)
    tab.open(f"/statuses/{original.public}")
    tab.click(".chosen .menu summary")
    tab.shoot(SHOTS / f"{name}-menu.png")
    tab.click(".chosen .menu a[href^='/compose?quote']")
    tab.at(f"/statuses/{original.public}")
    tab.see("Quote a post", "The tide tables")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / f"{name}-compose.png")
    tab.fill("Your post", "Read this before you sail.")
    tab.press("Post")
    tab.see("Posted.")
    drain_all()
    tab.open("/")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / f"{name}-home.png")
    with tab.dark():
        tab.shoot(SHOTS / f"{name}-home-dark.png")
    enter(tab, ben)
    tab.open(f"/statuses/{original.public}/quotes")
    tab.see("Who can quote this post", "Read this before you sail.")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / f"{name}-list.png")
    tab.click(".entry:first-of-type .menu summary")
    tab.follow("Take my post out…")
    tab.press("Take it out")
    tab.see("took it out")
    tab.shoot(SHOTS / f"{name}-revoked.png")
    tab.open("/notifications")
    tab.see("quoted your post")
    tab.shoot(SHOTS / f"{name}-notifications.png")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_an_author_limits_who_may_reply(world: None, size: Size, tab_of) -> None:
    ann, ben = make_named("ann"), make_named("ben")
    tab: Tab = tab_of(size)
    enter(tab, ann)
    tab.open("/compose")
    tab.fill("Your post", "The club meets at noon.")
    tab.expect(tab.find("[name=reply_approval_policy]")).to_be_hidden()
    tab.click("label[title='Limit replies and quotes']")
    tab.choose("Who can reply", "Followers")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / f"limits-{size.width}.png")
    tab.press("Post")
    tab.see("Posted.")
    drain_all()
    enter(tab, ben)
    tab.open("/@ann")
    tab.click(".entry .when")
    tab.see("Only followers of @ann and people in the post can reply.")
    tab.expect(tab.find("#reply-text")).to_have_count(0)
    assert faults_of(tab) == []
    tab.open("/@ann")
    tab.click(".profile button[aria-label='Follow @ann']")
    tab.expect(tab.find(".profile [aria-label='Following: unfollow @ann']")).to_be_visible()
    drain_all()
    tab.click(".entry .when")
    tab.fill("Your reply", "I will be there.")
    tab.press("Reply")
    tab.see("I will be there.")
