"""The rules of a client that polls with the highest id that it has seen.

    order       an entry or a post twice in one answer
    lost        an entry came since the client's first page, and no answer had its post

and those of `pages.py` for what is shown. An entry counts as lost at the first answer that has
everything newer (`is_last`) and began `recover_s` after the entry was due: a late delivery is no
loss. An answer may be lost on its way, and is not always repeated, so a failed poll ends the row of
polls; the next ordinary page begins another one.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from lab.faults.history.calls import ClientCall
from lab.faults.history.entries import Entries, Written
from lab.faults.history.pages import ClientMemory, PageChecker
from lab.faults.history.violations import Violation


@dataclass(slots=True)
class _Row:
    """Polls one after another. Entries that were due before `checked_s` have been checked."""

    began_s: float
    checked_s: float


@dataclass(slots=True)
class PollChecker:
    """Each entry is looked at once by each client whose account follows the poster."""

    entries: Entries
    pages: PageChecker
    _rows: dict[int, _Row] = field(default_factory=dict)
    _by_due: dict[int, tuple[list[float], list[Written]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Only entries that an answer named become due, and they are all known by now."""
        entries = sorted(self.entries.by_id.values(), key=lambda entry: entry.due_s)
        grouped: dict[int, tuple[list[float], list[Written]]] = defaultdict(lambda: ([], []))
        for entry in entries:
            times, written = grouped[entry.poster]
            times.append(entry.due_s)
            written.append(entry)
        self._by_due = dict(grouped)

    def begin(self, page: ClientCall) -> None:
        """An ordinary page shows what is there; polls bring what comes later."""
        self._rows.setdefault(page.client, _Row(page.began_s, float("-inf")))

    def end(self, client: int) -> None:
        self._rows.pop(client, None)

    def check(self, poll: ClientCall, memory: ClientMemory) -> Iterator[Violation]:
        """What is wrong with an answer. Then the client has seen it."""
        posts = [seen.post for seen in poll.seen]
        if len(set(posts)) < len(posts):
            yield Violation("order", "a post is returned twice", poll)
        yield from self.pages.shown(poll)
        memory.add(poll)
        row = self._rows.get(poll.client)
        if row is not None and poll.is_last:
            yield from self._lost(poll, memory, row)
            row.checked_s = max(row.checked_s, self._due_before_s(poll))

    def _lost(self, poll: ClientCall, memory: ClientMemory, row: _Row) -> Iterator[Violation]:
        before_s = self._due_before_s(poll)
        for poster in {poll.account, *self.pages.edges.followees[poll.account]}:
            times, written = self._by_due.get(poster, ([], []))
            due = written[bisect_right(times, row.checked_s) : bisect_left(times, before_s)]
            for entry in due:
                is_new = entry.began_s > row.began_s and entry.seen.post not in memory.posts
                if is_new and not self._is_excused(entry, poll):
                    yield Violation("lost", f"{entry.seen}", poll)

    def _due_before_s(self, poll: ClientCall) -> float:
        return poll.began_s - self.pages.promises.recover_s

    def _is_excused(self, entry: Written, poll: ClientCall) -> bool:
        """True if the reader may not have followed all the time, or a newer entry may replace it.

        What becomes visible by the reader's own act is in its place, below the cursor.
        """
        reader, since_s = poll.account, entry.began_s
        if self.pages.may_be_hidden(reader, entry, since_s, poll.ended_s):
            return True
        return self.pages.has_rival(poll, entry)
