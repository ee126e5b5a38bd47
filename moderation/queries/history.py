"""The newest reports and decisions about an account, for the pages of moderators."""

from collections.abc import Sequence

from django.db.models import OuterRef, QuerySet, Subquery

from accounts.models import User
from moderation.models import Decision, Report

MOST = 10


def with_names(reports: QuerySet[Report]) -> QuerySet[Report]:
    """Adds `account_name`, `restrictions` and `reporter_name` to each row, by key.

    They are None for an account whose user was deleted.
    """
    account = User.objects.filter(pk=OuterRef("account_id"))
    reporter = User.objects.filter(pk=OuterRef("reporter_id"))
    return reports.annotate(
        account_name=Subquery(account.values("username")),
        restrictions=Subquery(account.values("restrictions")),
        reporter_name=Subquery(reporter.values("username")),
    )


def list_reports_on(account_id: int, besides: int | None = None) -> Sequence[Report]:
    """The newest reports on an account but one, with names. At most MOST. One query by index."""
    rows = Report.objects.filter(account_id=account_id).exclude(pk=besides or 0).order_by("-id")
    return list(with_names(rows)[:MOST])


def list_decisions_on(account_id: int) -> Sequence[Decision]:
    """The newest decisions on an account, its posts and its images, with their appeals.

    At most MOST. One query by index.
    """
    rows = Decision.objects.filter(account_id=account_id).select_related("actor", "appeal")
    return list(rows.order_by("-id")[:MOST])
