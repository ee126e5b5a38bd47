"""The rules of a page of a home timeline.

    order       newest first, below the cursor, each entry and each post once
    invented    an entry that no call wrote
    gone        a post that was deleted, or a repost that was undone, before the read began
    unfollowed  an entry of an account that the reader does not follow
    muted       an entry or a post of an account that the reader mutes
    blocked     the same of an account that blocks the reader, or that the reader blocks
    own write   the reader's own entry is missing
    backwards   an entry is missing that this client has seen before
    hole        an entry is missing, and a later one of the same account is shown
    missing     an entry is missing that was due

A page covers all ids between its cursor and its last entry, or all below its cursor if nothing
follows. What it covers must be there, unless it may be gone, or a newer entry shows its post.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from lab.faults.history.calls import ClientCall, Seen
from lab.faults.history.edges import Edges
from lab.faults.history.entries import Entries, Written, poster_of
from lab.faults.history.promises import Promises
from lab.faults.history.violations import Violation


@dataclass(slots=True)
class ClientMemory:
    """What one client has seen. `posts`: those that the entries showed.

    `way_down`: the posts of the pages since the newest one, and the entries that showed them.
    """

    entries: set[int] = field(default_factory=set)
    posts: set[int] = field(default_factory=set)
    way_down: dict[int, int] = field(default_factory=dict)
    next_max_id: int | None = None

    def add(self, read: ClientCall) -> None:
        self.entries.update(seen.entry for seen in read.seen)
        self.posts.update(seen.post for seen in read.seen)


@dataclass(frozen=True, slots=True)
class PageChecker:
    """Cost of a page: its length, plus three bisections for each account that the reader knows."""

    entries: Entries
    edges: Edges
    promises: Promises

    def check(self, page: ClientCall, memory: ClientMemory) -> Iterator[Violation]:
        """What is wrong with a page. Then the client has seen it."""
        if page.max_id is None or page.max_id != memory.next_max_id:
            memory.way_down.clear()
        yield from self._order(page, memory)
        yield from self.shown(page)
        yield from self._absent(page, memory)
        memory.add(page)
        memory.way_down |= {seen.post: seen.entry for seen in page.seen}
        memory.next_max_id = page.seen[-1].entry if page.seen else None

    def shown(self, page: ClientCall) -> Iterator[Violation]:
        """What is shown and must not be."""
        for seen in page.seen:
            written = self.entries.find(seen, page.ended_s)
            if written is None:
                yield Violation("invented", f"{seen}", page)
            elif rule := self._reason_against(page, written):
                yield Violation(rule, f"{seen}", page)

    def may_be_hidden(self, reader: int, written: Written, began_s: float, ended_s: float) -> bool:
        """True if a read in this time may leave the entry out, although it has arrived."""
        if written.gone_from_s < ended_s:
            return True
        if self._may_be_silent(reader, written.poster, began_s, ended_s):
            return True
        return self._may_be_barred(reader, written.seen.author, began_s, ended_s)

    def has_rival(self, read: ClientCall, written: Written) -> bool:
        """True if a newer entry may show the same post to this reader."""
        seen = written.seen
        ids = self.entries.by_post[seen.post]
        newer = (self.entries.by_id[entry_id] for entry_id in ids[bisect_right(ids, seen.entry) :])
        if any(self._reason_against(read, entry) is None for entry in newer):
            return True
        return any(
            reposter == read.account
            or self.edges.follows(read.account, reposter).may_be(True, read.began_s, read.ended_s)
            for reposter in self.entries.waiting_reposters(seen.post, read.ended_s)
        )

    def _may_be_silent(self, reader: int, poster: int, began_s: float, ended_s: float) -> bool:
        """True if the reader may see nothing of this poster."""
        if poster == reader:
            return False
        if self.edges.follows(reader, poster).may_be(False, began_s, ended_s):
            return True
        return self._may_be_barred(reader, poster, began_s, ended_s)

    def _may_be_barred(self, reader: int, other: int, began_s: float, ended_s: float) -> bool:
        """True if a mute or a block may hide the other account."""
        edges = self.edges
        return other != reader and any(
            register.may_be(True, began_s, ended_s)
            for register in (
                edges.mutes(reader, other),
                edges.blocks(reader, other),
                edges.blocked_by(reader, other),
            )
        )

    def _order(self, page: ClientCall, memory: ClientMemory) -> Iterator[Violation]:
        ids = [seen.entry for seen in page.seen]
        if ids != sorted(set(ids), reverse=True):
            yield Violation("order", "entries are not newest first, each once", page)
        if len({seen.post for seen in page.seen}) < len(ids):
            yield Violation("order", "a post is shown twice", page)
        if page.max_id is not None and ids and max(ids) >= page.max_id:
            yield Violation("order", "an entry is not below the cursor", page)
        if repeated := [seen for seen in page.seen if self._is_repeated(seen, page, memory)]:
            yield Violation("order", f"{repeated[0]} was on a page above", page)

    def _is_repeated(self, seen: Seen, page: ClientCall, memory: ClientMemory) -> bool:
        """A post comes again lower down if the entry that showed it has ended since."""
        if seen.post not in memory.way_down:
            return False
        ids = self.entries.by_post[seen.post]
        above = [self.entries.by_id[entry_id] for entry_id in ids[bisect_right(ids, seen.entry) :]]
        return not any(
            self.may_be_hidden(page.account, entry, page.began_s, page.ended_s) for entry in above
        )

    def _reason_against(self, page: ClientCall, written: Written) -> str | None:
        reader, began_s, ended_s = page.account, page.began_s, page.ended_s
        if not written.may_exist(began_s, ended_s):
            return "gone" if written.gone_by_s < began_s else "invented"  # seen before it was made
        edges, poster, author = self.edges, written.poster, written.seen.author
        if poster != reader and edges.follows(reader, poster).must_be(False, began_s, ended_s):
            return "unfollowed"
        for other in {poster, author} - {reader}:
            if edges.mutes(reader, other).must_be(True, began_s, ended_s):
                return "muted"
            blocks = (edges.blocks(reader, other), edges.blocked_by(reader, other))
            if any(block.must_be(True, began_s, ended_s) for block in blocks):
                return "blocked"
        return None

    def _absent(self, page: ClientCall, memory: ClientMemory) -> Iterator[Violation]:
        shown = memory.way_down | {seen.post: seen.entry for seen in page.seen}
        latest = self._latest_begins(page)
        for poster in {page.account, *self.edges.followees[page.account]}:
            covered = self._covered(page, poster)
            times = (page.began_s, page.ended_s)
            if not covered or self._may_be_silent(page.account, poster, *times):
                continue
            for written in self._required(poster, covered, page.ended_s):
                if shown.get(written.seen.post, -1) >= written.seen.entry:
                    continue
                rule = self._reason_for(page, written, memory, latest.get(poster, float("-inf")))
                if rule and not self._is_excused(page, written):
                    yield Violation(rule, f"{written.seen}", page)

    def _required(self, poster: int, covered: list[int], ended_s: float) -> Iterator[Written]:
        """The entries without those that may be gone. Reads come in the order of their ends, so no
        later page needs those either.
        """
        ids = self.entries.by_poster[poster]
        for entry_id in covered:
            written = self.entries.by_id[entry_id]
            if written.gone_from_s < ended_s:
                del ids[bisect_left(ids, entry_id)]
            else:
                yield written

    def _is_excused(self, page: ClientCall, written: Written) -> bool:
        if self.may_be_hidden(page.account, written, page.began_s, page.ended_s):
            return True
        return self.has_rival(page, written)

    def _covered(self, page: ClientCall, poster: int) -> list[int]:
        """The poster's entries in the part of the timeline that the page covers."""
        ids = self.entries.by_poster.get(poster, [])
        first = 0 if page.is_last else len(ids)
        if page.seen and not page.is_last:
            first = bisect_left(ids, page.seen[-1].entry)
        last = len(ids) if page.max_id is None else bisect_left(ids, page.max_id)
        return ids[first:last]

    def _latest_begins(self, page: ClientCall) -> dict[int, float]:
        """When the last write began of those that the page shows, by poster."""
        latest: dict[int, float] = {}
        for seen in page.seen:
            if written := self.entries.by_id.get(seen.entry):
                poster = poster_of(seen)
                latest[poster] = max(latest.get(poster, written.began_s), written.began_s)
        return latest

    def _reason_for(
        self, page: ClientCall, written: Written, memory: ClientMemory, latest_begin_s: float
    ) -> str | None:
        """Why the page must show the entry, if it is not hidden."""
        if written.poster == page.account and written.acked_s < page.began_s:
            return "own write"
        if written.seen.entry in memory.entries:
            return "backwards"
        if written.due_s < page.began_s:
            return "missing"
        if written.acked_s < latest_begin_s and self.promises.is_quiet(
            written.acked_s, page.ended_s
        ):
            return "hole"
        return None
