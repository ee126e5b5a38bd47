"""`manage.py abort_move`: gives a move up before its accounts have moved."""

from operations.moves.command import MoveCommand
from operations.moves.types import MoveRoute


class Command(MoveCommand):
    help = (
        "Gives the unfinished move up before its accounts have moved: the source keeps no log"
        " for it any more, and the copies on the target are deleted."
    )
    route = MoveRoute.ABORT
