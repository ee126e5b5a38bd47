"""A guest finds what trends in the navigation, and reads the posts of a tag."""

import time

import pytest

from posts.actions.mark_post import mark_post
from posts.types import Kind
from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.feeds import enter, make_named
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.world import drain_all, publish
from timelines.trends.actions.compute import compute_trends

pytestmark = pytest.mark.core

NAMES = ("ann", "ben", "cora", "dan")


@pytest.fixture(autouse=True)
def talk(ann: int) -> None:
    others = [*map(make_named, NAMES[1:])]
    for tag in ("harbour", "tide", "a" * 60):
        for person in (ann, *others):
            publish(person, f"We talk about #{tag}")
    best = publish(ann, "The boat of the year")
    for person in others:
        mark_post(person, best, Kind.FAVOURITE, True)
    drain_all()
    compute_trends(time.time())


def test_a_guest_finds_it_in_the_navigation(ann: int, tab: Tab) -> None:
    tab.open("/")
    tab.follow("Explore")
    tab.at("/explore")
    tab.see("Trending tags", "The boat of the year")
    assert faults_of(tab) == []
    tab.click(".trends a[href='/tags/harbour']")
    tab.at("/tags/harbour")
    tab.see("We talk about #harbour")


@pytest.mark.parametrize("size", [DESKTOP, PHONE, Size(360, 800), Size(1000, 800)])
def test_it_fits_and_nothing_is_marked_by_axe(ann: int, tab_of, size: Size) -> None:
    tab: Tab = tab_of(size)
    enter(tab, ann)
    tab.open("/explore")
    tab.see("The boat of the year")
    assert tab.overflow_px() <= 0 and faults_of(tab) == []
    tab.shoot(SHOTS / f"explore-{size.width}.png")
