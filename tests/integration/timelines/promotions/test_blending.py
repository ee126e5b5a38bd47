"""Promotions between entries: paging finds the same entries as without, and pages are stable.

Why a viewer sees a promotion: what the API says, and to which viewers.
"""

from datetime import UTC, datetime
from itertools import pairwise

import hypothesis
import orjson
from hypothesis import strategies as st

from infra.api.pages import Window
from infra.caching.client import redis
from infra.shared_thread import SharedThread
from posts.ids import PostId
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.timelines.promotions.campaigns import (
    DAY,
    blend,
    campaigns_of,
    organic,
    page_of,
    places,
    run_campaign,
)
from tests.world import make_account, make_accounts, publish
from timelines.promotions.actions.hide import hide_campaign
from timelines.promotions.blend import HomePageRequest, blend_promotions
from timelines.promotions.models import Campaign
from timelines.promotions.rules import is_in_audience

ME = 7


def page_down(viewer_id: int, ids: list[PostId], limits: list[int], cursor_of: str) -> list[dict]:
    """All items from top to bottom. `cursor_of`: the cursor that the client uses."""
    found, cursor, n = [], None, 0
    while True:
        window = Window(limits[n % len(limits)], max_id=cursor)
        page = blend(viewer_id, ids, window)
        items = [orjson.loads(body) for body in page.items]
        assert len(items) <= window.limit
        assert [i["id"] for i in items] == sorted({i["id"] for i in items}, reverse=True)
        found += items
        if page.older is None:
            return found
        cursor, n = page.older if cursor_of == "link" else min(i["id"] for i in items), n + 1


@hypothesis.settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
@hypothesis.given(
    campaigns=st.lists(
        st.tuples(st.integers(1, 12), st.integers(1, 30), st.integers(1, 4)), min_size=1, max_size=4
    ),
    limits=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    count=st.integers(0, 90),
    cursor_of=st.sampled_from(["link", "least id"]),
)
def test_paging_has_every_entry_once_and_promotions_apart(
    world, campaigns, limits, count, cursor_of
):
    redis().call("FLUSHDB")
    Campaign.objects.all().delete()
    rules = {str(run_campaign(slot=s, every=e, daily_cap=c)): (s, e, c) for s, e, c in campaigns}
    ids = organic(count)
    for _ in range(2):  # the second time with what the first left
        items = page_down(ME, ids, limits, cursor_of)
        assert [i["id"] for i in items if "promoted" not in i] == [i.public for i in ids]
        seen = [i["campaign"] for i in items if "promoted" in i]
        assert all(seen.count(campaign) <= cap for campaign, (_, _, cap) in rules.items())
        since = slot = 1_000_000
        for n, item in enumerate(items):
            since, slot = since + 1, n
            if "promoted" in item:
                assert since - 1 >= rules[item["campaign"]][1]
                assert slot >= rules[item["campaign"]][0]
                since = 0


def test_promotion_stands_below_its_slot_and_each_campaign_once_a_page(world):
    first, second = run_campaign(slot=3, every=4), run_campaign(slot=3, every=4)
    found = places(blend(ME, organic(20), Window(20)))
    assert list(found) == [3, 8]
    assert set(found.values()) == {str(first), str(second)}


def test_interval_goes_over_the_end_of_a_page(world):
    """`every` is longer than a page: only the paging session gives the second page a promotion."""
    run_campaign(slot=2, every=25)
    ids = organic(100)
    marked = [bool("promoted" in item) for item in page_down(ME, ids, [10], "link")]
    at = [n for n, is_promoted in enumerate(marked) if is_promoted]
    assert at[0] == 2
    assert len(at) == 4
    assert all(later - earlier > 25 for earlier, later in pairwise(at))


def test_page_whose_way_is_not_known_counts_from_its_own_top(world):
    run_campaign(slot=2, every=8)
    ids = organic(40)
    assert list(places(blend(ME, ids, Window(20, max_id=ids[9].public)))) == [8]
    assert list(places(blend(ME, ids[:15], Window(20, min_id=ids[14].public)))) == [8]


def test_page_is_the_same_when_it_is_read_again(world):
    for _ in range(3):
        run_campaign(slot=2, every=4, daily_cap=1)
    ids = organic(60)
    windows = [Window(20), Window(20, max_id=ids[19].public), Window(20, max_id=ids[39].public)]
    first = [blend(ME, ids, window).items for window in windows]
    assert sum(len(items) for items in first) == 60
    assert [blend(ME, ids, window).items for window in windows] == first


def test_small_refresh_has_none(world):
    run_campaign(slot=3)
    ids = organic(30)
    assert not places(blend(ME, ids, Window(20, min_id=ids[3].public)))
    newest = page_of(ids[:3], Window(20))
    reading = HomePageRequest(ME, Window(20, since_id=ids[3].public), all_kinds=True)
    assert not places(blend_promotions(reading, newest))
    more = blend_promotions(reading, page_of(ids[:4], Window(20)))
    assert list(places(more)) == [3]


def test_a_full_page_has_entries_less_and_the_next_begins_with_them(world):
    run_campaign()
    ids = organic(30)
    blended = blend(ME, ids, Window(10))
    assert len(blended.items) == 10
    assert list(places(blended)) == [1]
    assert (blended.older, blended.newer) == (ids[8].public, ids[0].public)


def test_a_poll_keeps_its_entries(world):
    """What it left out would not come again."""
    run_campaign()
    ids = organic(40)
    for room in range(3):
        page = blend(ME, ids[: 20 - room], Window(20, min_id=ids[39].public))
        assert len(page.items) == min(20, 21 - room)
        assert campaigns_of(page).count("") == 20 - room


def test_none_stands_where_no_id_is_free(world):
    run_campaign(slot=1)
    ids = [PostId(50, 3, 2), PostId(50, 3, 1), PostId(50, 3, 0), PostId(49, 9, 0)]
    assert campaigns_of(blend(ME, ids, Window(20))) == [
        "",
        "",
        "",
        campaigns_of(blend(ME, ids, Window(20)))[3],
        "",
    ]
    assert len(blend(ME, ids, Window(20)).items) == 5


def test_page_without_entries_has_none(world):
    run_campaign()
    assert blend(ME, [], Window(20)).items == []
    assert campaigns_of(blend(ME, organic(1), Window(20))) == [""]


def test_a_page_with_promotions_gets_a_thread_of_its_own(world):
    """It would count its impressions once more when it begins again."""
    run_campaign()
    left, shown = [], []
    thread = SharedThread(lambda ids: shown.append(blend(ME, ids, Window(20))), left.append)
    while thread.turn([] if left else [organic(5)]):
        pass
    assert (len(left), shown) == (1, [])
    assert redis().call("KEYS", "*promotion*") == []
    items = [orjson.loads(body) for body in blend(ME, left[0], Window(20)).items]
    assert any("promoted" in item for item in items)


PATH = "/api/v1/promotions/"


def test_it_says_who_placed_it_for_whom_and_until_when(as_ann, settings):
    settings.INSTANCE_TITLE = "Tide"
    seller = make_account("seller")
    campaign = run_campaign(account_id=seller, paid_by="Acme", daily_cap=2)
    row = Campaign.objects.get()
    assert as_ann.get(f"{PATH}{campaign}").json() == {
        "id": str(campaign),
        "type": "account",
        "placed_by": "Tide",
        "paid_by": "Acme",
        "audience": "everyone",
        "audience_percent": 100,
        "most_a_day": 2,
        "starts_at": row.starts_at.isoformat(),
        "ends_at": row.ends_at.isoformat(),
        "account_id": str(seller),
    }
    post = publish(seller)
    of_post = as_ann.get(f"{PATH}{run_campaign(post_id=post.base36)}").json()
    assert (of_post["account_id"], of_post["paid_by"]) == (str(seller), None)
    assert as_ann.get(f"{PATH}{run_campaign()}").json()["account_id"] is None


def test_only_its_audience_learns_of_it_and_not_before_it_starts(as_ann, ann):
    some = [ann, *make_accounts(20)]
    campaign = Campaign.objects.get(pk=run_campaign(audience_percent=50))
    for account_id in some:
        status = Caller(account_id).get(f"{PATH}{campaign.pk}").status_code
        assert status == (200 if is_in_audience(campaign, account_id) else 404)
    later = run_campaign(starts_at=datetime.now(UTC) + DAY, ends_at=datetime.now(UTC) + 2 * DAY)
    ended = run_campaign(ends_at=datetime.now(UTC) - DAY / 2, is_paused=True)
    assert as_ann.get(f"{PATH}{later}").status_code == 404
    assert as_ann.get(f"{PATH}{ended}").json()["audience"] == "everyone"
    for unknown in (99, 10**30):
        assert as_ann.get(f"{PATH}{unknown}").status_code == 404


def test_it_costs_one_query(as_ann):
    campaign = run_campaign()
    as_ann.get(f"{PATH}{campaign}")
    with count_calls() as calls:
        as_ann.get(f"{PATH}{campaign}")
    assert len(calls.statements) == 1


def test_a_hidden_promotion_is_gone_at_the_next_read_for_this_viewer_only(as_ann, ann):
    ids, (other,) = organic(6), make_accounts(1)
    campaign = run_campaign()
    shown = str(campaign)
    for viewer in (ann, other):
        assert shown in campaigns_of(blend(viewer, ids, Window(20)))
    for _ in range(2):
        assert as_ann.post(f"{PATH}{campaign}/hide").status_code == 200
        assert shown not in campaigns_of(blend(ann, ids, Window(20)))
    assert shown in campaigns_of(blend(other, ids, Window(20)))
    assert (
        as_ann.post(f"{PATH}9999/hide").status_code
        == as_ann.post(f"{PATH}{10**30}/hide").status_code
    )
    redis().call("FLUSHDB")
    assert shown not in campaigns_of(blend(ann, ids, Window(20)))


def test_a_process_that_dies_before_the_cache_ends_hides_it_after_a_repetition(
    as_ann, ann, monkeypatch
):
    ids, campaign = organic(6), run_campaign()
    blend(ann, ids, Window(20))
    with monkeypatch.context() as patch:
        patch.setattr("timelines.promotions.actions.hide.end_hidden_of", lambda _: None)
        hide_campaign(ann, campaign)
    assert str(campaign) in campaigns_of(blend(ann, ids, Window(20)))
    hide_campaign(ann, campaign)
    assert str(campaign) not in campaigns_of(blend(ann, ids, Window(20)))
