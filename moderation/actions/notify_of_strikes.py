"""Notifies accounts of what moderators decided about them."""

from collections.abc import Collection

from accounts.queries.users import load_restrictions
from accounts.types import Restriction
from infra.changes.registry import FollowUp
from moderation.models import Decision
from notifications.actions.notify import notify
from notifications.types import NotificationKind, Occurrence

_PURGE_BEGUN = Restriction.PURGING | Restriction.PURGED


def notify_of_strikes(decision_ids: Collection[int]) -> list[FollowUp]:
    """Adds a notification of each of these decisions. Purged accounts get none.

    Returns the follow-up changes of `notify`. Safety: as `write_notifications`. Cost: two queries,
    and one round trip to each account's shard.
    """
    decisions = list(Decision.objects.filter(pk__in=decision_ids))
    states = load_restrictions({decision.account_id for decision in decisions})
    purged = {pk for pk, state in states.items() if state.restrictions & _PURGE_BEGUN}
    return notify(_occurrence_of(row) for row in decisions if row.account_id not in purged)


def _occurrence_of(decision: Decision) -> Occurrence:
    """As in Mastodon, its actor is the account itself. A decision never changes."""
    account_id, at_ms = decision.account_id, int(decision.created_at.timestamp() * 1000)
    kind = NotificationKind.MODERATION_WARNING
    return Occurrence(account_id, account_id, kind, decision.pk, 0, at_ms, 1, True)
