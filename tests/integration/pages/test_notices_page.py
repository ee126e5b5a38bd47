"""Decisions of the moderators as their account reads them, and its appeal."""

from moderation.types import DecisionKind
from tests.integration.pages.browsing import Browser
from tests.people import BECAUSE, decide_on
from tests.world import drain_all, make_account, publish


def test_a_decision_is_shown_with_the_post_and_is_appealed_once(ann: int) -> None:
    post = publish(ann, "a boat & its captain")
    decide_on(post, DecisionKind.HIDE)
    drain_all()
    browser = Browser(ann)
    page = browser.read("/notices")
    for part in ("A post of yours is hidden.", BECAUSE.reason, "a boat &amp; its captain"):
        assert part in page, part
    path = page.split('action="')[1:]
    [appeal] = [one.split('"')[0] for one in path if one.startswith("/notices/")]
    refused = browser.send(appeal, {"text": " "})
    assert refused.status_code == 422 and b'role="alert"' in refused.content
    assert browser.send(appeal, {"text": "It is my own boat"})["Location"] == "/notices"
    page = browser.read("/notices")
    assert "It is my own boat" in page and "with the moderators" in page and appeal not in page
    assert browser.send(appeal, {"text": "again"}).status_code == 422
    assert "no decisions" in Browser(make_account()).read("/notices")
