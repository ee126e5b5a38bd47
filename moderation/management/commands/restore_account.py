"""`manage.py restore_account`: ends what an account is restricted to."""

from moderation.jobs.decide_account import DecisionCommand
from moderation.types import DecisionKind


class Command(DecisionCommand):
    act = DecisionKind.RESTORE
    help = (
        "Ends whatever an account is restricted to: suspended, frozen, limited. Needs --account and"
        " --reason."
    )
