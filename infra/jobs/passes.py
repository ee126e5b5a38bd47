"""Jobs that go through the rows several times: the passes run in turn, as one job."""

from collections.abc import Callable, Iterator

from infra.jobs.types import Batch, Work

Pass = Callable[[Work], Iterator[Batch]]
MOST_LINES = 1_000
THE_REST = "… and more: what follows is counted, not named"


def in_turn(work: Work, *passes: Pass) -> Iterator[Batch]:
    """One pass after the other. The position says in which pass it is, and where there."""
    begun = work.after or {"pass": 0, "at": None}
    for number in range(begun["pass"], len(passes)):
        after = begun["at"] if number == begun["pass"] else None
        for batch in passes[number](work._replace(after=after)):
            yield batch._replace(position={"pass": number, "at": batch.position})


def limit_lines(batches: Iterator[Batch], most: int = MOST_LINES) -> Iterator[Batch]:
    """The same batches with at most so many lines: a lost table would print every row of it."""
    left = most
    for batch in batches:
        lines = [*batch.details[: max(left, 0)]]
        if left >= 0 and len(batch.details) > left:
            lines.append(THE_REST)
            left = -1
        elif left >= 0:
            left -= len(lines)
        yield batch._replace(details=lines)
