"""Jobs of several passes over rows, and the limit of the lines that a job prints."""

from collections.abc import Callable, Iterator

from infra.jobs.types import Batch, Work

Pass = Callable[[Work], Iterator[Batch]]
MOST_LINES = 1_000
THE_REST = "… and more: the others are counted, not printed"


def in_turn(work: Work, *passes: Pass) -> Iterator[Batch]:
    """Runs one pass after the other as one job. Positions name the pass and the position in it."""
    begun = work.after or {"pass": 0, "at": None}
    for number in range(begun["pass"], len(passes)):
        after = begun["at"] if number == begun["pass"] else None
        for batch in passes[number](work._replace(after=after)):
            yield batch._replace(position={"pass": number, "at": batch.position})


def limit_lines(batches: Iterator[Batch], most: int = MOST_LINES) -> Iterator[Batch]:
    """The same batches with at most `most` lines. A lost table would print each of its rows."""
    left = most
    for batch in batches:
        lines = [*batch.details[: max(left, 0)]]
        if left >= 0 and len(batch.details) > left:
            lines.append(THE_REST)
            left = -1
        elif left >= 0:
            left -= len(lines)
        yield batch._replace(details=lines)
