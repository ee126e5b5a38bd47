"""The mail about a moderators' decision. Who is suspended cannot sign in, and gets nothing else."""

from functools import partial

from django.conf import settings
from django.utils.translation import gettext_noop as _

from accounts.mails import send_mail_to
from accounts.models import User
from accounts.site_texts.queries import get_site_description
from accounts.types import Restriction
from moderation.api.present import action_of
from moderation.models import Decision
from moderation.types import effect_of

NOTICES_PATH, ABOUT_PATH = "/notices", "/about"


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
