"""`manage.py suspend_account`: shuts an account out, reversibly."""

from moderation.jobs.judging import JudgingCommand
from moderation.types import Act


class Command(JudgingCommand):
    act = Act.SUSPEND
    help = (
        "Suspends an account: nobody can sign in to it, and all that is of it is shown to nobody."
        " Reversible for SUSPENSION_DAYS. Needs --account and --reason."
    )
