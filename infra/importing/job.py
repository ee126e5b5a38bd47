"""The frame of import jobs: lines become records, records are written in batches."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from infra.importing.errors import LineRefused, LineSkipped
from infra.importing.lines import ImportLine, ImportLines
from infra.jobs.types import Batch, Work

R = TypeVar("R")
Refusals = Mapping[int, str]


class NumberedRecord(NamedTuple, Generic[R]):
    """A record and the number of its line."""

    number: int
    record: R


class WrittenBatch(NamedTuple):
    """What the write of a batch did. `changed`: records that changed something. `refused`: the
    reason by the number of the line."""

    changed: int
    refused: Refusals


Write = Callable[[Sequence[NumberedRecord[R]], bool], WrittenBatch]
Report = Callable[[ImportLine, str], None]


def import_lines(
    work: Work,
    lines: ImportLines,
    read: Callable[[bytes], R | None],
    write: Write[R],
    report: Report,
    not_kept: Counter[str],
) -> Iterator[Batch]:
    """Writes the records of the lines, `work.batch_size` lines at a time; yields a batch each.

    Lines of other types are done, and change nothing. Those that Tideline has no place for are
    counted in `not_kept`, by name, and are not done. `write(records, dry_run)`: idempotent, and
    committed when it returns. `report` gets each refused line with the reason. When standard input
    is silent, what came is written, and an empty batch lets the caller look at the clock.
    """
    size, left = work.batch_size, work.limit
    taken: list[ImportLine] = []
    for line in lines:
        if line is not None:
            taken.append(line)
        if taken and (line is None or len(taken) == min(size, left or size)):
            yield _import_batch(taken, read, write, report, not_kept, work.dry_run)
            left = left and left - len(taken)
            taken = []
            if left == 0:
                return
        elif line is None:
            yield Batch(0)
    if taken:
        yield _import_batch(taken, read, write, report, not_kept, work.dry_run)


def _checked(text: bytes) -> bytes:
    """Raises: LineRefused for what PostgreSQL has no text for."""
    if b"\\u0000" in text.replace(b"\\\\", b""):
        raise LineRefused("a text has the character NUL")
    return text


def _import_batch(
    lines: Sequence[ImportLine],
    read: Callable[[bytes], R | None],
    write: Write[R],
    report: Report,
    not_kept: Counter[str],
    dry_run: bool,
) -> Batch:
    records: list[NumberedRecord[R]] = []
    refused: dict[int, str] = {}
    skipped = 0
    for line in lines:
        try:
            record = read(_checked(line.text))
        except LineRefused as error:
            refused[line.number] = str(error)
        except LineSkipped as error:
            not_kept[str(error)] += 1
            skipped += 1
        else:
            if record is not None:
                records.append(NumberedRecord(line.number, record))
    changed, refused_by_write = write(records, dry_run) if records else (0, {})
    refused |= refused_by_write
    for line in lines:
        if line.number in refused:
            report(line, refused[line.number])
    details = [f"line {number}: {reason}" for number, reason in sorted(refused.items())]
    position = {"line": lines[-1].number}
    return Batch(len(lines) - len(refused) - skipped, len(refused), "", changed, position, details)
