"""`manage.py resume_move`: goes on with a move that was stopped.

**When**: one of these commands was stopped or has failed. It goes on with what that command did.
"""

from operations.moves.command import MoveCommand


class Command(MoveCommand):
    help = (
        "Goes on with the unfinished move where it stopped: with moving, undoing, giving up or"
        " completing."
    )
