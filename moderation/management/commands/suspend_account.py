"""`manage.py suspend_account`: suspends an account; restore_account undoes it."""

from moderation.jobs.decide_account import DecisionCommand
from moderation.types import DecisionKind


class Command(DecisionCommand):
    kind = DecisionKind.SUSPEND
    help = (
        "Suspends an account: its user cannot sign in, and its profile and posts are hidden from"
        " all accounts. Reversible for SUSPENSION_DAYS. Needs --account and --reason."
    )
