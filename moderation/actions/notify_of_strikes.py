"""Notifies accounts of what moderators decided about them, and mails it to their people.

Who is suspended cannot sign in, and gets nothing but the mail.
"""

import time
from collections.abc import Collection, Iterator
from functools import partial
from smtplib import SMTPDataError, SMTPRecipientsRefused, SMTPSenderRefused

from django.conf import settings
from django.db.models.functions import Now
from django.utils.translation import gettext_noop as _

from accounts.mails import send_mail_to
from accounts.models import User
from accounts.queries.users import load_restrictions
from accounts.site_texts.queries import get_site_description
from accounts.types import Restriction
from infra.changes.errors import WholeBatchFails
from infra.changes.failpoints import failpoint
from infra.changes.registry import FollowUp
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.api.present import action_of
from moderation.models import Decision
from moderation.types import effect_of
from notifications.actions.notify import notify
from notifications.types import NotificationKind, Occurrence

NOTICES_PATH, ABOUT_PATH = "/notices", "/about"
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


# Of all mails of a batch. What is left is tried again at once.
LONGEST_S = 60.0
# The server answers, and refuses this one mail.
_OF_ONE_MAIL = (SMTPDataError, SMTPRecipientsRefused, SMTPSenderRefused)


def mail_strikes(decision_ids: Collection[int]) -> None:
    """Sends a mail about each of these decisions that has none yet, and notes that it was sent.

    Accounts without an address get none; without MAIL_URL no account does. Raises: WholeBatchFails
    if the server is away or slow, so that not each mail waits for it; SMTPException if it refuses a
    mail. Safety: a second run sends what the first did not, and a second mail only if the first
    died between the mail and its note. Cost: two queries; one statement for each mail, and at most
    ten seconds for each answer of the server.
    """
    if not settings.MAIL_URL:
        return
    ends_s = time.monotonic() + LONGEST_S
    for decision, user in _list_unmailed(decision_ids):
        if time.monotonic() > ends_s:
            raise WholeBatchFails(f"the mail server did not take all in {LONGEST_S:.0f} s")
        _mail(decision, user)


def _list_unmailed(decision_ids: Collection[int]) -> Iterator[tuple[Decision, User]]:
    decisions = Decision.objects.filter(pk__in=decision_ids, mailed_at=None).order_by("pk")
    users = User.objects.exclude(email="").in_bulk({row.account_id for row in decisions})
    return ((row, users[row.account_id]) for row in decisions if row.account_id in users)


def _mail(decision: Decision, user: User) -> None:
    try:
        send_strike_mail(user, decision)
    except _OF_ONE_MAIL:
        raise
    except OSError as error:
        raise WholeBatchFails(f"the mail server does not answer: {error}") from error
    failpoint("moderation.mailed")
    noted = Decision.objects.using(GLOBAL_ALIAS).filter(pk=decision.pk)
    noted.update(mailed_at=Now())


def send_strike_mail(user: User, decision: Decision) -> None:
    """Says what was decided and why, and how to appeal as the account is now.

    It names no moderator and no reporter. Raises: OSError, SMTPException.
    """
    notice = f"{NOTICES_PATH}?max_id={decision.pk + 1}#notice-{decision.pk}"
    send_mail_to(
        user,
        user.email,
        _("a decision of the moderators about you"),
        "moderation/strike_mail.txt",
        decision=decision,
        # Called in the language of the mail.
        effect=partial(effect_of, action_of(decision)),
        is_suspended=Restriction.SUSPENDED in Restriction(user.restrictions),
        contact=get_site_description().email or f"{settings.PUBLIC_URL}{ABOUT_PATH}",
        link=f"{settings.PUBLIC_URL}{notice}",
    )
