"""Reads decisions: the last one on each post, and the strikes of one account.

When restrictions of accounts end by themselves.

The newest reports and decisions about an account, for the pages of moderators.

The reports that an account filed, as it reads them itself.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from django.db.models import OuterRef, Q, QuerySet, Subquery

from accounts.models import User
from accounts.types import Restriction
from infra.api.errors import InvalidCursor
from infra.api.ids import MOST_DIGITS
from infra.api.pages import Page, Window
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.models import Appeal, Decision, Report, TimedRestriction
from moderation.types import POST_DECISIONS, PRODUCT_DEACTIVATED, STRIKES, DecisionKind
from posts.ids import PostId

HIGHEST_ID = 2**63 - 1
Strike = tuple[Decision, Appeal | None]


def load_last_decisions(post_ids: Iterable[PostId]) -> dict[PostId, Decision]:
    """The last decision on each of these posts; posts without a decision are missing. One query."""
    decisions = (
        Decision.objects.filter(post_id__in=[i.base36 for i in post_ids], kind__in=POST_DECISIONS)
        .order_by("post_id", "-id")
        .distinct("post_id")
    )
    return {decision.post: decision for decision in decisions if decision.post}


def find_suspension(account_id: int) -> Decision | None:
    """The last decision that suspended the account. One query by index."""
    rows = Decision.objects.filter(account_id=account_id, kind=DecisionKind.SUSPEND)
    return rows.order_by("-pk").first()


def is_deleted_by_owner(account_id: int, since: int = 0) -> bool:
    """Whether the account was suspended last because its owner deleted it.

    `since`: and after this decision. Cost: one query by index.
    """
    last = find_suspension(account_id)
    return last is not None and last.is_of_owner and last.pk > since


def is_deactivated(account_id: int) -> bool:
    """Of a suspended account: whether that is because its product deactivated it.

    Cost: one query by index.
    """
    last = find_suspension(account_id)
    return last is not None and last.is_of_product


def find_deleted_by_owners(account_ids: Iterable[int]) -> set[int]:
    """Those of the accounts that are suspended, and were last because their owners deleted them.

    Cost: two queries by index.
    """
    ids = list(account_ids)
    suspensions = Decision.objects.filter(account_id__in=ids, kind=DecisionKind.SUSPEND)
    last = suspensions.order_by("account_id", "-pk").distinct("account_id")
    by_owners = {row.account_id for row in last if row.is_of_owner}
    users = User.objects.filter(pk__in=by_owners).values_list("pk", "restrictions")
    return {pk for pk, restrictions in users if Restriction.SUSPENDED in Restriction(restrictions)}


def find_resolution(report_id: int) -> Decision | None:
    """The last decision that resolved the report. One query by index."""
    rows = Decision.objects.filter(report_id=report_id, kind=DecisionKind.RESOLVE)
    return rows.order_by("-pk").first()


def load_last_image_decisions(image_ids: Iterable[int]) -> dict[int, Decision]:
    """The last decision on each of these images; images without one are missing. One query."""
    decisions = (
        Decision.objects.filter(image_id__in=list(image_ids))
        .order_by("image_id", "-id")
        .distinct("image_id")
    )
    return {decision.image_id: decision for decision in decisions if decision.image_id is not None}


def strikes_against(account_id: int) -> QuerySet[Decision]:
    """The decisions on an account that it may read, and appeal against. That its product has
    deactivated it is none of the moderators."""
    decisions = Decision.objects.using(GLOBAL_ALIAS).filter(account_id=account_id)
    of_product = Q(actor=None, reason=PRODUCT_DEACTIVATED)
    return decisions.filter(kind__in=STRIKES).exclude(of_product)


def list_strikes(account_id: int, window: Window) -> Page[Strike]:
    """The decisions on an account that it may read, newest first, each with its appeal.

    Raises: InvalidCursor. Cost: one query by key, and one for the appeals.
    """
    strikes = strikes_against(account_id)
    if window.max_id:
        strikes = strikes.filter(pk__lt=decode_cursor(window.max_id))
    if above := window.min_id or window.since_id:
        strikes = strikes.filter(pk__gt=decode_cursor(above))
    is_upwards = window.min_id is not None
    rows = list(strikes.order_by("id" if is_upwards else "-id")[: window.limit + 1])
    has_older = is_upwards or len(rows) > window.limit
    shown = rows[: window.limit][::-1] if is_upwards else rows[: window.limit]
    appeals = {appeal.decision_id: appeal for appeal in Appeal.objects.filter(decision__in=shown)}
    if not shown:
        return Page([], None, None)
    older = str(shown[-1].pk) if has_older else None
    items = [(decision, appeals.get(decision.pk)) for decision in shown]
    return Page(items, older, str(shown[0].pk))


def load_strikes(account_id: int, ids: Iterable[int]) -> dict[int, Strike]:
    """Those of the strikes that are against this account, by id. One query by key."""
    rows = strikes_against(account_id).filter(pk__in=list(ids)).select_related("appeal")
    return {decision.pk: (decision, getattr(decision, "appeal", None)) for decision in rows}


def decode_cursor(cursor: str) -> int:
    """The id in a cursor, at most the highest of a row. Raises: InvalidCursor."""
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > MOST_DIGITS:
        raise InvalidCursor
    return min(int(cursor), HIGHEST_ID)


Ends = Mapping[Restriction, datetime]


def load_ends(account_ids: Collection[int]) -> dict[int, Ends]:
    """By account, the end of each restriction that has one. One query by index."""
    ends: defaultdict[int, dict[Restriction, datetime]] = defaultdict(dict)
    rows = TimedRestriction.objects.filter(account_id__in=account_ids)
    for account_id, word, ends_at in rows.values_list("account_id", "restriction", "ends_at"):
        ends[account_id][Restriction(word)] = ends_at
    return {**ends}


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


OWN_REPORTS = 20


def list_own_reports(reporter_id: int, max_id: str = "") -> Page[Report]:
    """Newest first, with `account_name`. `max_id`: those before this one; empty: the newest.

    Raises: InvalidCursor. Cost: one query by index, of OWN_REPORTS + 1 rows.
    """
    rows = Report.objects.using(GLOBAL_ALIAS).filter(reporter_id=reporter_id)
    if max_id:
        rows = rows.filter(pk__lt=decode_cursor(max_id))
    reports = list(with_names(rows).order_by("-pk")[: OWN_REPORTS + 1])
    older = str(reports[OWN_REPORTS - 1].pk) if len(reports) > OWN_REPORTS else None
    return Page(reports[:OWN_REPORTS], older, None)
