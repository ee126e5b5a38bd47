"""Campaigns between the database and a process: what runs, what was shown, what may be shown."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all, fetch_one
from posts.ids import PostId
from timelines.promotions.budget import BudgetReport, ImpressionBudget
from timelines.promotions.types import Ad, CampaignKind, RunningCampaign

# A process holds such a part of what is left of a cap, one at least and so many at most.
ALLOTMENTS_PER_CAP, MOST_ALLOTTED = 200, 500
TARGETS = 5  # columns of RUNNING behind `kind`
# The lock of the old row makes two processes' allotments one after the other.
SETTLE = """
WITH old AS (
    SELECT id, given_out, total_cap FROM promotions_campaign WHERE id = %(id)s FOR UPDATE
), granted AS (
    SELECT id, CASE WHEN %(wanted)s <= 0 THEN %(wanted)s
        ELSE greatest(0, least(%(wanted)s, total_cap - given_out - %(unallotted)s)) END AS tickets
    FROM old
)
UPDATE promotions_campaign campaign SET served = served + %(shown)s,
    given_out = given_out + %(unallotted)s + granted.tickets
FROM granted WHERE campaign.id = granted.id RETURNING granted.tickets
"""
RUNNING = """
SELECT id, kind, post_id, account_id, ad_title, ad_text, ad_url, slot, every, daily_cap,
    audience_percent, extract(epoch FROM starts_at)::float8, extract(epoch FROM ends_at)::float8,
    CASE WHEN total_cap IS NOT NULL THEN least(%s, greatest(1, (total_cap - given_out) / %s)) END
FROM promotions_campaign WHERE NOT is_paused AND ends_at > %s ORDER BY id
"""


def load_running(now: datetime) -> Sequence[RunningCampaign]:
    """Those that run or will. One query."""
    params = (MOST_ALLOTTED, ALLOTMENTS_PER_CAP, now)
    return [_campaign(*row) for row in fetch_all(GLOBAL_ALIAS, RUNNING, params)]


def settle(report: BudgetReport) -> int:
    """Files a report and returns how many tickets the process gets. One statement."""
    found = fetch_one(GLOBAL_ALIAS, SETTLE, {"id": report.campaign_id, **report._asdict()})
    return int(found[0]) if found else 0


def settle_all(tickets: ImpressionBudget, running: Sequence[RunningCampaign]) -> None:
    """Reports every campaign and takes a part for those that run. One statement each."""
    allotments = {campaign.id: campaign.allotment or 0 for campaign in running}
    for campaign_id in sorted({*allotments, *tickets.campaigns()}):
        report = tickets.begin_report(campaign_id, allotments.get(campaign_id, 0))
        if report.shown or report.wanted:
            try:
                granted = settle(report)
            except Exception:
                tickets.undo_report(report)
                raise
            tickets.end_report(campaign_id, granted)


def _campaign(campaign_id: int, word: str, *row: Any) -> RunningCampaign:
    """Of one row of RUNNING."""
    kind = CampaignKind(word)
    post_id, account_id, *ad = row[:TARGETS]
    if kind is CampaignKind.POST:
        return RunningCampaign(campaign_id, kind, PostId.from_public(post_id), *row[TARGETS:])
    target = account_id if kind is CampaignKind.ACCOUNT else Ad(*ad)
    return RunningCampaign(campaign_id, kind, target, *row[TARGETS:])
