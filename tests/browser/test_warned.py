"""A person learns of a decision of the moderators by a notification, and appeals from there."""

from collections.abc import Callable

import pytest

from moderation.types import DecisionKind
from tests.browser.axe import faults_of
from tests.browser.feeds import enter
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.people import decide, decide_on
from tests.world import drain_all, publish


@pytest.fixture(autouse=True)
def warned(ann: int) -> None:
    decide(ann, DecisionKind.LIMIT)
    decide_on(publish(ann, "Cheap boats, today only"), DecisionKind.HIDE)
    drain_all()


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_warning_leads_to_its_notice_and_the_appeal(
    ann: int, tab_of: Callable[..., Tab], size: Size
) -> None:
    tab = tab_of(size)
    enter(tab, ann)
    tab.open("/notifications")
    tab.see("A post of yours is hidden.", "only your followers see your posts", "spam")
    assert faults_of(tab) == [] and tab.overflow_px() <= 0
    tab.click(".moderation_warning .excerpt >> nth=1")
    tab.at("/notices")
    tab.see("only your followers see your posts", "Reason:")
    tab.click(".notice-of summary")
    tab.fill("Why is the decision wrong?", "They float")
    tab.press("Send the appeal")
    tab.see("Your appeal is with the moderators.")
    tab.open("/notifications")
    assert tab.count(tab.find(".moderation_warning .go:text('appeal')")) == 1
