"""Mails people what moderators decided about them."""

import time
from collections.abc import Collection, Iterator
from smtplib import SMTPDataError, SMTPRecipientsRefused, SMTPSenderRefused

from django.conf import settings
from django.db.models.functions import Now

from accounts.models import User
from infra.changes.errors import WholeBatchFails
from infra.changes.failpoints import failpoint
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.mails import send_strike_mail
from moderation.models import Decision

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
