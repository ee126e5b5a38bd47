"""Promotions on the home page: each says that it is one, and no list counts on it."""

import re
from collections.abc import Iterator

import pytest

from posts.ids import EPOCH, PostId
from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.pages.browsing import Browser, ids_on
from tests.integration.timelines.promotions.campaigns import AD, run_campaign
from tests.world import drain_all, make_account, publish
from timelines.promotions import campaigns

CARD = re.compile(r'<div class="promotion" data-slot="(\d+)">(.*?)\n</div>\n', re.DOTALL)


@pytest.fixture(autouse=True)
def no_refresh(world: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(campaigns, "REFRESH_S", 3_600)
    yield
    campaigns.running_campaigns.stop()


@pytest.fixture
def posts(ann: int) -> list[PostId]:
    """Of bob, the oldest first."""
    follow(ann, bob := make_account("bob"))
    posts = [publish(bob, f"number {n}", clock_s=lambda n=n: EPOCH + 100 + n) for n in range(45)]
    drain_all()
    return posts


@pytest.fixture
def seller(world: None) -> int:
    return make_account("seller")


def test_a_promoted_post_is_called_so_and_reposted_by_nobody(ann, posts, seller):
    sold = publish(seller, "buy tea")
    drain_all()
    run_campaign(post_id=sold.base36, slot=2)
    browser = Browser(ann)
    page = browser.read("/")
    [(_, card)] = CARD.findall(page)
    assert "Promoted" in card and "buy tea" in card and "reposted" not in page
    assert f'id="promoted-{sold.public}"' in card and f'id="post-{sold.public}"' not in card
    assert ids_on(page) == [one.public for one in posts[:-20:-1]]
    part = browser.act(f"/statuses/{sold.public}/favourite", {"promoted": "1"})
    assert f'id="promoted-{sold.public}"' in part


def test_accounts_and_ads_have_cards(ann, posts, seller):
    Caller(ann).post("/api/v2/filters", {"title": "x", "context": ["home"]})
    run_campaign(account_id=seller, slot=2, every=1)
    run_campaign(slot=2, every=1)
    cards = " ".join(card for _, card in CARD.findall(Browser(ann).read("/")))
    assert cards.count("Promoted ·") == 2
    assert 'href="/@seller"' in cards
    assert (
        f'href="{AD["ad_url"]}" rel="sponsored' in cards and "<small>tea.example</small>" in cards
    )


def test_no_promotion_is_a_cursor_a_marker_or_counted(ann, posts, seller):
    for _ in range(3):
        run_campaign(slot=1, every=1)
    browser, public = Browser(ann), [one.public for one in posts]
    Caller(ann).post("/api/v1/markers", {"home[last_read_id]": public[4]})
    page = browser.read("/")
    assert ids_on(page)[0] == public[4]
    seen, slots = ids_on(page), []
    while up := re.search(r'href="/\?(min_id=\d+)"', page):
        page = browser.read(f"/?{up[1]}")
        slots += [slot for slot, _ in CARD.findall(page)]
        seen = ids_on(page) + seen
    assert seen == public[::-1] and slots
    assert {up[1] for up in re.finditer(r"m(?:in|ax)_id=(\d+)", page)} <= set(public)


def test_a_page_of_new_posts_with_promotions_says_that_there_are_more(ann, posts, seller):
    run_campaign(slot=1, every=1)
    answer = Browser(ann).client.get("/home/new", {"since_id": posts[3].public})
    assert CARD.search(answer.content.decode())
    assert answer["X-More"] == "1"


def test_a_promotion_says_why_it_is_seen_and_how_to_hide_it(ann, posts, seller):
    sold = publish(seller, "buy tea")
    drain_all()
    campaign = run_campaign(post_id=sold.base36, slot=2, paid_by="Acme Teas", daily_cap=2)
    browser = Browser(ann)
    assert f'href="/promotions/{campaign}">Why do I see this?</a>' in browser.read("/")
    page = browser.read(f"/promotions/{campaign}")
    assert "Acme Teas</b> pays for it" in page and "All people here." in page
    assert "At most 2 times a day" in page and 'href="/@seller/mute"' in page
    ad = run_campaign(audience_percent=100)
    assert "Hide this promotion" in browser.read(f"/promotions/{ad}")
    assert browser.send(f"/promotions/{campaign}").status_code == 303
    assert "buy tea" not in browser.read("/")
    browser.read("/promotions/9999", status=404)
