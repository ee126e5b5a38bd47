"""Jobs of several passes over rows."""

from collections.abc import Callable, Iterator

from infra.jobs.types import Batch, Work

Pass = Callable[[Work], Iterator[Batch]]


def in_turn(work: Work, *passes: Pass) -> Iterator[Batch]:
    """Runs one pass after the other as one job. Positions name the pass and the position in it."""
    begun = work.after or {"pass": 0, "at": None}
    for number in range(begun["pass"], len(passes)):
        after = begun["at"] if number == begun["pass"] else None
        for batch in passes[number](work._replace(after=after)):
            yield batch._replace(position={"pass": number, "at": batch.position})
