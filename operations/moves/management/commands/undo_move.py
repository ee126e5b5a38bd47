"""`manage.py undo_move`: gives the accounts of a move back to the shard that they came from.

**When**: the accounts should be back on their old shard, before `complete_move`. It compares the
rows again, switches back as `move_buckets` did, and deletes the copies. **Costs**: reads every
table of both shards once.
"""

from operations.moves.command import MoveCommand
from operations.moves.types import MoveRoute


class Command(MoveCommand):
    help = (
        "Gives the accounts of the unfinished move back to the shard that they came from, with all"
        " that was written since, and deletes the copies on the other."
    )
    route = MoveRoute.UNDO
