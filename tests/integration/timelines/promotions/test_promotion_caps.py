"""Caps: the daily one in Redis, the total one in the database. Concurrent pages exceed neither."""

import os
from functools import partial
from unittest.mock import patch

import pytest
from django.db import OperationalError

from infra.api.pages import Window
from infra.caching.client import redis
from infra.sharding.sql import fetch_one
from tests.integration.timelines.promotions.campaigns import (
    blend,
    organic,
    places,
    refresh,
    run_campaign,
)
from tests.races import failures, run_together
from timelines.promotions import budget, campaigns
from timelines.promotions.blend import HomePageRequest, blend_promotions
from timelines.promotions.campaigns import GRANTS_PER_CAP, RunningCampaigns, running_campaigns
from timelines.promotions.models import Campaign
from timelines.promotions.rules import DAY_S

IDS = organic(200)


def page_at(n: int) -> Window:
    """A page that no other overlaps."""
    return Window(10, max_id=IDS[n * 10].public)


def show(viewer_id: int, n: int = 0) -> int:
    """How many promotions are on the viewer's nth page."""
    return len(places(blend(viewer_id, IDS, page_at(n))))


def numbers(campaign_id: int) -> tuple[int, int]:
    campaign = Campaign.objects.get(pk=campaign_id)
    return campaign.served, campaign.given_out


def test_daily_cap_of_a_person_is_exact_when_pages_are_read_at_once(world):
    run_campaign(daily_cap=3)
    answers = run_together(partial(show, 7, n) for n in range(12))
    assert not failures(answers)
    assert sum(answers) == 3
    assert show(8) == 1


def test_the_next_day_starts_again(world):
    run_campaign(daily_cap=1)
    tomorrow = Campaign.objects.get().ends_at.timestamp() - 1
    reading = HomePageRequest(7, page_at(1), all_kinds=True)
    pages = [show(7, 0), show(7, 1)]
    page = blend(99, IDS, page_at(1))
    plain = page._replace(items=[body for body in page.items if b"promoted" not in body])
    later = blend_promotions(reading, plain, lambda: int(tomorrow * 1000))
    assert [*pages, len(places(later))] == [1, 0, 1]
    assert DAY_S >= redis().call("TTL", next(iter(redis().call("KEYS", "*day*")))) > DAY_S - 60


def test_total_cap_is_exact_whatever_races_and_redis_forgets(world):
    campaign = run_campaign(total_cap=GRANTS_PER_CAP * 3)
    others = [RunningCampaigns() for _ in range(3)]
    shown = 0
    for turn in range(3):
        for process in (running_campaigns, *others):
            with patch("timelines.promotions.blend.running_campaigns", process):
                process.refresh(Campaign.objects.get().created_at)
                viewers = range(turn * 1000, turn * 1000 + 8)
                answers = run_together(partial(show, viewer) for viewer in viewers)
            assert not failures(answers)
            shown += sum(answers)
            redis().call("FLUSHDB")
    # Each time each process had a grant of three at most.
    assert 9 < shown <= 36
    for process in (running_campaigns, *others):
        process.stop()
    assert numbers(campaign) == (shown, shown)


def test_cap_is_reached_and_not_passed(world):
    campaign = run_campaign(total_cap=5)
    shown = 0
    for viewer in range(1, 9):
        shown += show(viewer)
        refresh()
    assert (shown, numbers(campaign)) == (5, (5, 5))


def test_only_the_grant_of_a_killed_process_is_lost(world):
    campaign = run_campaign(total_cap=GRANTS_PER_CAP * 2)
    assert show(1) == 1
    running_campaigns.reset()  # like a process that is killed
    refresh()
    running_campaigns.stop()
    assert numbers(campaign) == (0, 2)


def test_promotion_stays_in_its_slot_when_the_cap_is_used_up(world):
    run_campaign(total_cap=1)
    assert [show(1), show(2), show(1)] == [1, 0, 1]
    refresh()
    assert [show(1), show(2)] == [1, 0]


def test_page_that_shows_nothing_uses_no_impression(world):
    run_campaign(total_cap=1, slot=30)
    assert show(1) == 0
    run_campaign(total_cap=1)
    assert [show(1), show(2)] == [1, 0]


def test_numbers_of_a_campaign_without_a_cap(world):
    campaign = run_campaign()
    assert [show(viewer) for viewer in range(1, 6)] == [1] * 5
    refresh()
    assert numbers(campaign) == (5, 5)
    Campaign.objects.update(total_cap=6)
    refresh()
    assert [show(viewer) for viewer in range(6, 9)] == [1, 0, 0]


def test_paused_campaign_is_gone_with_the_next_refresh_and_returns_its_grant(world):
    campaign = run_campaign(total_cap=GRANTS_PER_CAP * 4)
    assert show(1) == 1
    Campaign.objects.update(is_paused=True)
    refresh()
    assert show(1) == 0
    assert numbers(campaign) == (1, 1)


def test_impressions_are_reported_once_the_database_is_back(world):
    campaign = run_campaign(total_cap=GRANTS_PER_CAP * 4)
    assert show(1) == 1
    with (
        patch.object(budget, "fetch_one", side_effect=OperationalError("away")),
        pytest.raises(OperationalError),
    ):
        refresh()
    assert show(2) == 1, "pages go on with the budget they have"
    refresh()
    running_campaigns.stop()
    assert numbers(campaign) == (2, 2)


def test_a_grant_is_not_returned_twice_when_the_answer_is_lost(world):
    campaign = run_campaign(total_cap=GRANTS_PER_CAP * 4)
    Campaign.objects.update(is_paused=True)

    def lose_the_answer(*asked):
        fetch_one(*asked)
        raise OperationalError("away")

    with (
        patch.object(budget, "fetch_one", lose_the_answer),
        pytest.raises(OperationalError),
    ):
        refresh()
    Campaign.objects.update(given_out=GRANTS_PER_CAP * 4)  # what other processes were given since
    refresh()
    assert numbers(campaign) == (0, GRANTS_PER_CAP * 4)


def test_thread_outlives_a_database_that_is_away(world):
    run_campaign()
    with patch.object(campaigns, "load_running", side_effect=OperationalError("away")):
        running_campaigns._refresh_or_log()
    assert show(1) == 1


def test_thread_reads_campaigns_by_itself(world, monkeypatch):
    """The first page starts the thread, and shows no promotion."""
    run_campaign()
    process = RunningCampaigns()
    monkeypatch.setattr(campaigns, "REFRESH_S", 0.01)
    turned = run_until_read(process)
    process.stop()
    assert turned
    assert process.campaigns() == ()


def run_until_read(process: RunningCampaigns) -> bool:
    first = process.campaigns()
    thread = process._thread
    assert (first, thread is not None) == ((), True)
    while not process.campaigns():
        thread.join(0.01)
    return True


def test_forked_process_has_no_budget_of_its_parent(world):
    run_campaign(total_cap=1)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, b"%d" % len(running_campaigns._campaigns))
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reader, 10) == b"0"
    os.close(reader)
    os.close(writer)
    assert show(1) == 1
