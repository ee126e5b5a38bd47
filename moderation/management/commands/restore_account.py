"""`manage.py restore_account`: ends all restrictions of an account."""

from moderation.jobs.decide_account import DecisionCommand
from moderation.types import DecisionKind


class Command(DecisionCommand):
    kind = DecisionKind.RESTORE
    help = (
        "Ends all restrictions of an account: suspended, frozen, limited. Needs --account and"
        " --reason."
    )
