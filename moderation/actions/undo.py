"""Undoes a decision: for an appeal that is accepted, and for a moderator who takes it back."""

from contextlib import suppress
from datetime import datetime

from django.db import transaction

from accounts.images.errors import ImageNotFound
from accounts.types import Restriction
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.decide import decide_on_account, decide_on_post
from moderation.actions.decide_on_image import decide_on_image
from moderation.actions.reports import reopen_report
from moderation.models import Decision
from moderation.queries.decisions import find_resolution, is_deleted_by_owner
from moderation.types import ADDED_RESTRICTIONS, TIMED_DECISIONS, DecisionKind, DecisionOrigin


def undo_decision(decision: Decision, origin: DecisionOrigin, now: datetime) -> None:
    """Shows a hidden post or image again, or lifts the restriction unless it is over by now.

    Deleted posts stay deleted. Safety: the caller's transaction. Raises: the errors of the function
    that decides. Cost: those of the decision that undoes the first one.
    """
    if decision.kind == DecisionKind.HIDE and decision.post:
        decide_on_post(decision.post, DecisionKind.SHOW, origin)
    elif decision.image_id is not None:
        with suppress(ImageNotFound):  # its owner deleted it
            decide_on_image(decision.account_id, decision.image_id, DecisionKind.SHOW, origin)
    elif decision.kind in ADDED_RESTRICTIONS and not _is_over(decision):
        lifted = ADDED_RESTRICTIONS[DecisionKind(decision.kind)]
        decide_on_account(decision.account_id, DecisionKind.RESTORE, origin, now, lifted=lifted)


def take_back(decision: Decision, origin: DecisionOrigin, now: datetime) -> None:
    """Undoes the decision, and opens the report again that was resolved with it. One transaction.

    Raises: as undo_decision.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        undo_decision(decision, origin, now)
        if decision.report_id is not None and _resolved_it(decision):
            reopen_report(decision.report_id, origin)


def can_take_back(decision: Decision) -> bool:
    """Whether all is then as it was before. Not after a warning, which has arrived, or a deletion;
    nor if the account was restricted so before, maybe with another end. Cost: a query at most.
    """
    if decision.kind in TIMED_DECISIONS:
        return not _was_restricted(decision)
    return decision.kind in (DecisionKind.HIDE, DecisionKind.RESOLVE)


def _resolved_it(decision: Decision) -> bool:
    """Whether the same moderator resolved the report with or after the decision."""
    last = find_resolution(decision.report_id or 0)
    return last is not None and last.pk >= decision.pk and last.actor_id == decision.actor_id


def _was_restricted(decision: Decision) -> bool:
    """Whether the account had this restriction after the decision before."""
    earlier = Decision.objects.filter(account_id=decision.account_id, pk__lt=decision.pk)
    before = earlier.exclude(restrictions=None).order_by("-pk").first()
    restrictions = Restriction(before.restrictions or 0) if before else Restriction.NONE
    return bool(ADDED_RESTRICTIONS[DecisionKind(decision.kind)] & restrictions)


def _is_over(decision: Decision) -> bool:
    """Whether its restriction ended since: one of today comes from a later decision.

    Also if the owner deleted the suspended account since. Cost: two queries.
    """
    if decision.kind == DecisionKind.SUSPEND and is_deleted_by_owner(
        decision.account_id, decision.pk
    ):
        return True
    restriction = ADDED_RESTRICTIONS[DecisionKind(decision.kind)]
    later = Decision.objects.filter(account_id=decision.account_id, pk__gt=decision.pk)
    left = later.exclude(restrictions=None).values_list("restrictions", flat=True)
    return any(not restriction & Restriction(restrictions or 0) for restrictions in left)
