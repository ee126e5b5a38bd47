"""Decisions on several accounts, posts and reports at once: rows first, then one after the other.

Each target is decided on in one transaction on the default database, together with its row. So a
target is decided on once, also when the process dies in the middle or two people go on.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

from django.db import transaction

from accounts.errors import AccountNotFound, AccountPurged
from infra.api.errors import TidelineError
from infra.changes.errors import UNREACHABLE
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.probe import error_line
from moderation.actions.decide import decide_on_account, decide_on_post
from moderation.actions.reports import resolve_report
from moderation.errors import AboutItIsOpen, OwnerDeletedIt, PostIsDeleted, SentBefore
from moderation.models import REASON_LENGTH, Decision, JointDecision, JointTarget
from moderation.queries.decisions import find_deleted_by_owners
from moderation.types import (
    OPEN_STATES,
    DecisionKind,
    DecisionOrigin,
    JointPlan,
    TargetState,
)
from posts.errors import PostNotFound

# A request ends after that. What is left waits for the next one.
LONGEST_S = 10.0
# There is nothing to decide on, also later; or not here.
_GONE = (AccountNotFound, AccountPurged, OwnerDeletedIt, PostNotFound, PostIsDeleted)


def create_joint_decision(key: UUID, actor_id: int, plan: JointPlan) -> JointDecision:
    """Writes what is to be done; nothing is done yet. With the same key: the one of before.

    Raises: SentBefore, if that one has other choices or is of another person. Safety: idempotent.
    Cost: four statements in one transaction.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        joint, is_new = JointDecision.objects.using(GLOBAL_ALIAS).get_or_create(
            key=key,
            defaults={
                "actor_id": actor_id,
                "checksum": plan.checksum,
                "account_kind": plan.account_kind or "",
                "post_kind": plan.post_kind or "",
                "resolves": plan.resolves,
                "ends_at": plan.ends_at,
                "reason": plan.reason,
            },
        )
        if is_new:
            JointTarget.objects.using(GLOBAL_ALIAS).bulk_create(_targets_of(joint, plan))
        elif joint.actor_id != actor_id or joint.checksum not in ("", plan.checksum):
            raise SentBefore
    return joint


def carry_out(joint: JointDecision, actor_id: int, longest_s: float = LONGEST_S) -> None:
    """Decides on each target that waits or failed, in the order of their rows, for so long.

    `actor_id`: who goes on; the log names them. What cannot be done keeps the reason in its row.
    Safety: may be called again, and by several at once. Cost: for each target four statements, and
    those of its decision.
    """
    ends_s = time.monotonic() + longest_s
    rows = JointTarget.objects.filter(joint=joint, state__in=OPEN_STATES).order_by("pk")
    for target_id in list(rows.values_list("pk", flat=True)):
        if time.monotonic() > ends_s:
            return
        _carry_out_one(joint, target_id, actor_id)


def _targets_of(joint: JointDecision, plan: JointPlan) -> Iterator[JointTarget]:
    """Posts first: those of a suspended account are decided on, too. Reports last."""
    for post_id, report_id in plan.posts.items() if plan.post_kind else ():
        yield JointTarget(
            joint=joint,
            account_id=post_id.author_id,
            post_id=post_id.base36,
            report_id=report_id,
        )
    for account_id, report_id in plan.accounts.items() if plan.account_kind else ():
        yield JointTarget(joint=joint, account_id=account_id, report_id=report_id)
    for report, about in plan.reports.items() if plan.resolves else ():
        yield JointTarget(joint=joint, account_id=about, report_id=report, is_report=True)


def _carry_out_one(joint: JointDecision, target_id: int, actor_id: int) -> None:
    with transaction.atomic(using=GLOBAL_ALIAS):
        target = JointTarget.objects.select_for_update().get(pk=target_id)
        if target.state not in OPEN_STATES:
            return
        target.state, target.note = _try(joint, target, actor_id)
        failpoint("moderation.before_target_saved")
        target.save(using=GLOBAL_ALIAS, update_fields=["state", "note", "decision"])


def _try(joint: JointDecision, target: JointTarget, actor_id: int) -> tuple[TargetState, str]:
    """The state of the target after it, and why. Sets its decision."""
    origin = DecisionOrigin(actor_id, joint.reason, target.report_id)
    try:
        with transaction.atomic(using=GLOBAL_ALIAS):
            is_changed = _decide(joint, target, origin)
    except _GONE as error:
        return TargetState.UNCHANGED, "It does not exist" if error.status == 404 else str(error)
    except TidelineError as error:
        return TargetState.FAILED, str(error)
    except UNREACHABLE as error:
        note = f"{shard_of(target.account_id)} does not answer: {error_line(error)}"
        return TargetState.FAILED, note[:REASON_LENGTH]
    return TargetState.DONE if is_changed else TargetState.UNCHANGED, ""


def _decide(joint: JointDecision, target: JointTarget, origin: DecisionOrigin) -> bool:
    now = datetime.now(UTC)
    if target.is_report:
        others = JointTarget.objects.filter(joint=joint, account_id=target.account_id)
        if others.filter(is_report=False, state__in=OPEN_STATES).exists():
            raise AboutItIsOpen
        return resolve_report(target.report_id or 0, origin, now)
    target.decision = _decide_on(joint, target, origin, now)
    return target.decision is not None


def _decide_on(
    joint: JointDecision, target: JointTarget, origin: DecisionOrigin, now: datetime
) -> Decision | None:
    if target.post:
        return decide_on_post(target.post, DecisionKind(joint.post_kind), origin)
    kind = DecisionKind(joint.account_kind)
    if kind is DecisionKind.RESTORE and find_deleted_by_owners([target.account_id]):
        raise OwnerDeletedIt
    return decide_on_account(target.account_id, kind, origin, now, ends_at=joint.ends_at)
