"""What the commands of moves share: one process at a time, which takes the move over."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from infra.jobs.command import JobCommand
from infra.jobs.run_scope import describe_options
from infra.jobs.runs import Run, recorded_run
from infra.jobs.types import Batch, Work
from infra.sharding.placement import Placement
from operations.moves.errors import MoveRefused
from operations.moves.models import Move
from operations.moves.route import claim, leave_for, run_route
from operations.moves.rows import find_unfinished, take_move
from operations.moves.types import MoveRoute


class MoveCommand(JobCommand):
    """A subclass names its route. Without one it goes on with the route of the move."""

    route: ClassVar[MoveRoute | None] = None
    placement = Placement.SHARDED

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        yield from self.go_on(self.find_move())

    def find_move(self) -> Move:
        """The move that is not finished. Raises: MoveRefused."""
        move = find_unfinished()
        if move is None:
            raise MoveRefused("no move is unfinished")
        return move

    def go_on(self, move: Move) -> Iterator[Batch]:
        """Takes the move over, and does what is left of the route."""
        ref = take_move(move)
        claim(ref, is_abort=self.route is MoveRoute.ABORT)
        if self.route is not None:
            leave_for(move, ref, self.route)
        yield Batch(0, details=[f"{move}: {ref.buckets.size} buckets, {move.route}"])
        yield from run_route(move, ref)

    def _start(self, work: Work, options: dict[str, Any]) -> AbstractContextManager[Run]:
        """All these commands have one lock, so that one process at a time works on moves."""
        flags = describe_options(options, self._defaults, self._own)
        return recorded_run("moves", [""], f"{self.name} {flags}".strip(), work.dry_run)
