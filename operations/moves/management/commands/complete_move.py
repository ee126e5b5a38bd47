"""`manage.py complete_move`: ends the way back, and deletes the rows that were left.

**When**: the accounts have switched and the way back is not needed any more. It deletes the rows on
the source. **Costs**: as `abort_move`, on the source.
"""

from operations.moves.command import MoveCommand
from operations.moves.types import MoveRoute


class Command(MoveCommand):
    help = (
        "Ends the way back of a move whose accounts have moved, and deletes their rows on the shard"
        " that they came from."
    )
    route = MoveRoute.COMPLETE
