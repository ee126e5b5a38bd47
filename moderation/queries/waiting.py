"""What waits for a moderator now: open reports, and appeals without a decision."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import OuterRef, Subquery

from accounts.models import User
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one
from moderation.models import Appeal, Report
from moderation.queries.decisions import with_names
from moderation.types import AppealState, ReportState

# More are not counted: the page that shows them says "1,000 or more".
MOST_COUNTED = 1_000
MOST_LISTED = 5
# By the indexes report_queue and appeal_queue. The states are written out, because a plan for any
# state would read a table whose rows are mostly decided.
WAITING = f"""
WITH opened AS MATERIALIZED (
    SELECT created_at FROM moderation_report WHERE state = '{ReportState.OPEN}'
    ORDER BY id DESC LIMIT {MOST_COUNTED}
), pending AS MATERIALIZED (
    SELECT id FROM moderation_appeal WHERE state = '{AppealState.PENDING}'
    ORDER BY id DESC LIMIT {MOST_COUNTED}
)
SELECT (SELECT count(*) FROM opened), (SELECT min(created_at) FROM opened),
    (SELECT count(*) FROM pending)
"""  # noqa: S608 - of constants


class WaitingCounts(NamedTuple):
    """Each at most MOST_COUNTED. `oldest_report_at`: of those that are counted, the newest ones;
    None without an open report.
    """

    reports: int
    oldest_report_at: datetime | None
    appeals: int


class WaitingRows(NamedTuple):
    """The oldest rows of both queues, at most MOST_LISTED each, with the names of accounts."""

    reports: Sequence[Report]
    appeals: Sequence[Appeal]


def list_waiting() -> WaitingRows:
    """Two queries by index."""
    reports = with_names(Report.objects.filter(state=ReportState.OPEN)).order_by("id")
    appeals = Appeal.objects.filter(state=AppealState.PENDING).select_related("decision")
    account = User.objects.filter(pk=OuterRef("decision__account_id"))
    named = appeals.annotate(account_name=Subquery(account.values("username"))).order_by("id")
    return WaitingRows(list(reports[:MOST_LISTED]), list(named[:MOST_LISTED]))


def count_waiting() -> WaitingCounts:
    """As the tables have it now. One query by index, of at most MOST_COUNTED rows each."""
    row = fetch_one(GLOBAL_ALIAS, WAITING)
    assert row is not None  # noqa: S101 - a SELECT without a table has one row
    return WaitingCounts(*row)
