"""`manage.py suspend_account`: shuts an account out, reversibly."""

from moderation.jobs.decide_account import DecisionCommand
from moderation.types import DecisionKind


class Command(DecisionCommand):
    act = DecisionKind.SUSPEND
    help = (
        "Suspends an account: nobody can sign in to it, and all that is of it is shown to nobody."
        " Reversible for SUSPENSION_DAYS. Needs --account and --reason."
    )
