"""Reports: accounts file them; moderators assign, resolve and reopen them."""

import time
from datetime import datetime

from django.conf import settings
from django.db import transaction

from accounts.queries.load import require_account
from accounts.site_texts.queries import load_rule_texts
from infra.api.errors import TooManyRequests
from infra.caching.quotas import QuotaClaim, Quotas
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.decide import record_decision
from moderation.errors import ReportNotFound, UnknownRule
from moderation.models import Report
from moderation.types import DecisionKind, DecisionOrigin, ReportDraft, ReportState
from posts.errors import PostNotFound
from posts.ids import MalformedPostId, PostId

DAY_S = 86_400
_quotas = Quotas(DAY_S)


def file_report(reporter_id: int, draft: ReportDraft) -> Report:
    """Puts a report into the moderators' queue.

    Posts that do not exist, or that are hidden from the reporter, are accepted: an error would tell
    a blocked account which posts of the blocker exist, and a victim of abuse may report a post
    although its author has blocked the victim since.

    Raises: AccountNotFound; PostNotFound for ids that cannot be posts of the reported account;
    UnknownRule; TooManyRequests above REPORTS_PER_DAY. Cost: one insert; a query if it names rules.
    """
    require_account(draft.account_id)
    if draft.rule_ids and len(load_rule_texts(draft.rule_ids)) < len(draft.rule_ids):
        raise UnknownRule
    post_ids = _read_post_ids(draft)
    _charge(reporter_id, time.time())
    report = Report(
        reporter_id=reporter_id,
        account_id=draft.account_id,
        post_ids=[post_id.base36 for post_id in post_ids],
        comment=draft.comment,
        category=draft.category,
        rule_ids=list(draft.rule_ids),
    )
    report.save(using=GLOBAL_ALIAS, force_insert=True)
    report.refresh_from_db(fields=["created_at"])
    return report


def assign_report(report_id: int, assignee_id: int, origin: DecisionOrigin) -> bool:
    """Assigns a report to a moderator. False: the report was theirs. Raises: ReportNotFound."""
    with transaction.atomic(using=GLOBAL_ALIAS):
        report = _lock(report_id)
        if report.assignee_id == assignee_id:
            return False
        report.assignee_id = assignee_id
        _save(report, DecisionKind.ASSIGN, origin)
    return True


def resolve_report(report_id: int, origin: DecisionOrigin, now: datetime) -> bool:
    """Resolves a report. False: it was resolved before. Raises: ReportNotFound."""
    return _set_state(report_id, ReportState.RESOLVED, now, DecisionKind.RESOLVE, origin)


def reopen_report(report_id: int, origin: DecisionOrigin) -> bool:
    """Opens a resolved report again. False: it was open. Raises: ReportNotFound."""
    return _set_state(report_id, ReportState.OPEN, None, DecisionKind.REOPEN, origin)


def _set_state(
    report_id: int,
    state: ReportState,
    resolved_at: datetime | None,
    kind: DecisionKind,
    origin: DecisionOrigin,
) -> bool:
    with transaction.atomic(using=GLOBAL_ALIAS):
        report = _lock(report_id)
        if report.state == state:
            return False
        report.state, report.resolved_at = state, resolved_at
        _save(report, kind, origin)
    return True


def _lock(report_id: int) -> Report:
    report = Report.objects.select_for_update().filter(pk=report_id).first()
    if report is None:
        raise ReportNotFound
    return report


def _save(report: Report, kind: DecisionKind, origin: DecisionOrigin) -> None:
    report.save(using=GLOBAL_ALIAS, update_fields=["state", "assignee", "resolved_at"])
    record_decision(kind, origin._replace(report_id=report.pk), report.account_id)


def _read_post_ids(draft: ReportDraft) -> list[PostId]:
    try:
        ids = list(dict.fromkeys(map(PostId.from_public, draft.post_ids)))
    except MalformedPostId:
        raise PostNotFound from None
    if any(post_id.author_id != draft.account_id for post_id in ids):
        raise PostNotFound
    return ids


def _charge(reporter_id: int, now_s: float) -> None:
    usage = _quotas.use([QuotaClaim(f"reports-{reporter_id}", settings.REPORTS_PER_DAY)], now_s)
    if not usage.is_granted:
        raise TooManyRequests(max(1, usage.reset_at - int(now_s)))
