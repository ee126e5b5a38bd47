"""What operators mend by hand: a home timeline that lacks a post, and changes that are parked."""

import pytest

from infra.changes.models import DiscardedChange
from infra.sharding.buckets import shard_of
from tests.browser.community import Community
from tests.browser.tab import Tab
from tests.integration.timelines.homes import first_page
from tests.people import make_boss
from tests.world import drain_all


@pytest.fixture
def community(world: None) -> Community:
    return Community()


@pytest.fixture
def mender(tab: Tab) -> Tab:
    tab.sign_in(make_boss())
    return tab


def test_a_home_that_lacks_a_post_is_rebuilt(community: Community, mender: Tab) -> None:
    lost = community.posts[1].public
    community.lose_from_home(community.posts[1])
    mender.open(f"/admin/find/account/{community.ann}/")
    mender.follow("Home timeline")
    mender.at(f"/admin/find/account/{community.ann}/home/")
    mender.see_after_reloads("1 missing, 0 dead, 0 below the low-water mark")
    mender.see("MISSING: it should be stored")
    mender.expect(mender.find("tr.ops-wrong")).to_have_count(1)
    mender.expect(mender.find("tr.ops-wrong")).to_contain_text(lost)
    assert lost not in first_page(community.ann)
    mender.press("Rebuild")
    mender.see(f"+ {lost}")
    mender.see_no("MISSING")
    mender.expect(mender.find("tr.ops-wrong")).to_have_count(0)
    assert lost in first_page(community.ann)


def test_a_parked_change_is_tried_again(community: Community, mender: Tab) -> None:
    post, change = community.park_a_post()
    mender.open("/admin/parked/")
    mender.follow(f"{shard_of(community.ben)}: not known")
    mender.see(f"#{change}", "ValueError: the store of timelines said no")
    mender.see_no("in push, line 12")
    mender.click("details summary")
    mender.see("in push, line 12")
    mender.tick(f"Choose change {change}")
    mender.press("Try again")
    mender.see("1 of 1 put back into the queue", "Nothing is parked here.")
    drain_all()
    assert first_page(community.ann)[0] == post.public


def test_a_parked_change_is_discarded_with_a_reason(community: Community, mender: Tab) -> None:
    alias = shard_of(community.ben)
    _, change = community.park_a_post()
    mender.open(f"/admin/parked/?shard={alias}")
    mender.tick(f"Choose change {change}")
    mender.press("Discard for good")
    mender.see("Nothing done. Reason: Give a reason")
    mender.tick(f"Choose change {change}")
    mender.fill("Reason", "that post is gone")
    mender.press("Discard for good")
    mender.see("1 of 1 discarded", "Nothing is parked here.")
    row = DiscardedChange.objects.on(alias).get()
    assert (row.id, row.reason, row.discarded_by) == (change, "that post is gone", "boss")
