"""Where promotions may be on a page, and audiences: plain values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.api.ids import MAX_ACCOUNT_ID
from posts.ids import SEQUENCES, PostId
from timelines.promotions.rules import MOST_OFFERED, choose_offered, is_in_audience
from timelines.promotions.slotting import id_below, list_anchors
from timelines.promotions.types import Ad, CampaignKind, RunningCampaign

posts = st.builds(
    PostId,
    st.integers(1, 3),
    st.integers(1, 3) | st.integers(MAX_ACCOUNT_ID - 2, MAX_ACCOUNT_ID),
    st.integers(0, 3) | st.integers(SEQUENCES - 2, SEQUENCES - 1),
)
DAY_S = 86_400


def ad(campaign_id: int, percent: int = 100, starts_at_s: float = 0.0) -> RunningCampaign:
    target = Ad("a", "b", "https://c/")
    times = (starts_at_s, starts_at_s + DAY_S)
    return RunningCampaign(campaign_id, CampaignKind.AD, target, 3, 20, 1, percent, *times, None)


@given(st.sets(posts, min_size=2, max_size=8))
def test_a_place_lies_between_its_neighbours(ids):
    newest_first = sorted(ids, reverse=True)
    anchors = list_anchors(newest_first)
    assert len(anchors) == len(newest_first) - 1
    for above, below, anchor in zip(newest_first, newest_first[1:], anchors, strict=False):
        place = id_below(above)
        assert anchor == (above.base36 if below < place else "")
        assert below <= place < above
        assert place.second == above.second


@pytest.mark.parametrize("percent", [0, 1, 30, 99, 100])
def test_share_of_an_audience(percent):
    inside = sum(is_in_audience(ad(3, percent), viewer) for viewer in range(1, 20_001))
    assert inside == pytest.approx(200 * percent, abs=400 if 0 < percent < 100 else 0)


def test_larger_share_holds_the_smaller_and_campaigns_differ():
    def inside(campaign_id, percent):
        viewers = range(1, 5_001)
        return {v for v in viewers if is_in_audience(ad(campaign_id, percent), v)}

    assert inside(1, 20) < inside(1, 40)
    assert len(inside(1, 20) & inside(2, 20)) < len(inside(1, 20)) / 2


def test_dates():
    def is_offered(now_s):
        return bool(choose_offered([ad(1, starts_at_s=5.0 * DAY_S)], 9, now_s, all_kinds=True))

    offered = [is_offered(now_s) for now_s in (5 * DAY_S - 0.1, 5 * DAY_S, 6 * DAY_S - 0.1)]
    assert offered == [False, True, True]
    assert not is_offered(6 * DAY_S)


def test_ads_are_for_clients_that_know_them():
    assert not choose_offered([ad(1)], 9, 1.0, all_kinds=False)


def test_every_campaign_is_offered_on_some_day():
    campaigns = [ad(n)._replace(ends_at_s=1e9) for n in range(1, 2 * MOST_OFFERED)]
    days = [choose_offered(campaigns, 9, day * DAY_S, all_kinds=True) for day in range(40)]
    assert {len(offered) for offered in days} == {MOST_OFFERED}
    assert {offered[0].id for offered in days} == {campaign.id for campaign in campaigns}
    assert choose_offered(campaigns[::-1], 9, 0.0, all_kinds=True) == days[0]
