"""`manage.py abort_move`: gives a move up before its accounts have moved.

**When**: a move should not go on and its accounts have not switched; then it is refused. First the
source is open and keeps no log. The rest needs the target: if that does not answer, run
`resume_move` later. **Costs**: reads every table of the target once, and deletes the copies in
transactions of 4 MB of a table.
"""

from operations.moves.command import MoveCommand
from operations.moves.types import MoveRoute


class Command(MoveCommand):
    help = (
        "Gives the unfinished move up before its accounts have moved: the source keeps no log"
        " for it any more, and the copies on the target are deleted."
    )
    route = MoveRoute.ABORT
