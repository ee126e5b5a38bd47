"""`manage.py restore_account`: ends what an account is restricted to."""

from moderation.jobs.judging import JudgingCommand
from moderation.types import Act


class Command(JudgingCommand):
    act = Act.RESTORE
    help = (
        "Ends whatever an account is restricted to: suspended, frozen, limited. Needs --account and"
        " --reason."
    )
