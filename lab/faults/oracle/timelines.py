"""The rules of posts and home timelines when all is quiet.

    lost      an acknowledged post or repost is missing from its account's own timeline
    invented  an entry that no call wrote
    gone      an entry that was deleted or undone
    paging    a list that is not newest first, or has an entry twice
    counts    a count of posts that differs from the posts
    home      a home timeline that differs from what its sources give

Unknown writes are decided by the end: a post of unknown outcome is in its account's own timeline,
or it never happened. Homes are computed from those timelines.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import inf

from lab.faults.history.calls import Seen
from lab.faults.history.entries import Entries, Written
from lab.faults.history.violations import Violation
from lab.faults.oracle.state import QuietState

# What hides another account at home. A mute does not hide reposts on their reposter's own page.
BLOCKS = ("blocking", "blocked_by")
BARS = ("muting", *BLOCKS)


class TimelineChecker:
    """Checks posts first: that decides which unknown writes happened."""

    def __init__(self, entries: Entries, state: QuietState) -> None:
        self._entries, self._state = entries, state
        entries.advance(inf)
        self._sources: dict[int, set[Seen]] = defaultdict(set)  # by poster

    def violations(self) -> Iterator[Violation]:
        for account, statuses in self._state.statuses.items():
            yield from self._check_posts(account, statuses)
        for reader, home in self._state.homes.items():
            yield from self._check_home(reader, home)

    def _check_posts(self, account: int, statuses: Sequence[Seen]) -> Iterator[Violation]:
        yield from _check_order(f"timeline of {account}", statuses)
        for seen in statuses:
            yield from self._check_explained(seen)
        required = {entry.seen for entry in self._live_entries(account) if entry.gone_from_s == inf}
        hidden = {seen for seen in required if self._is_hidden(seen)}
        for lost in required - hidden - {*statuses}:
            yield Violation("lost", f"{lost}")
        self._sources[account] = {*statuses} | hidden
        yield from self._check_count(account, statuses)

    def _check_explained(self, seen: Seen) -> Iterator[Violation]:
        written = self._entries.find(seen, inf)
        if written is None:
            yield Violation("invented", f"{seen}")
        elif written.gone_by_s < inf:
            yield Violation("gone", f"{seen}")

    def _check_count(self, account: int, statuses: Sequence[Seen]) -> Iterator[Violation]:
        """Reposts of blocked accounts count, and are not shown. So reposts of unknown outcome may
        count, and those of posts whose deletion has an unknown outcome.
        """
        count = self._state.counts[account]["posts"]
        shown = {*statuses}
        more = [
            entry
            for entry in self._live_entries(account)
            if entry.seen not in shown
            and entry.seen.reposter is not None
            and entry.ended_by_s == inf
            and (entry.gone_from_s < inf or self._is_hidden(entry.seen))
        ]
        sure = sum(entry.ended_from_s == inf for entry in more)
        unknown = len(self._entries.unknown_begins()[account])
        if not len(shown) + sure <= count <= len(shown) + len(more) + unknown:
            yield Violation("counts", f"posts of {account}: {count}, not {len(shown)} + {sure}")

    def _live_entries(self, account: int) -> list[Written]:
        """Entries that an answer named and that were not ended."""
        entries = [self._entries.by_id[entry_id] for entry_id in self._entries.by_poster[account]]
        return [entry for entry in entries if entry.acked_s < inf and entry.ended_by_s == inf]

    def _check_home(self, reader: int, home: Sequence[Seen]) -> Iterator[Violation]:
        yield from _check_order(f"home of {reader}", home)
        expected = self._expected_home(reader)
        home_posts = {seen.post: seen for seen in home}
        if len(home_posts) < len(home):
            yield Violation("home", f"of {reader}: a post is shown twice")
        for post in expected.keys() | home_posts.keys():
            if expected.get(post) != home_posts.get(post) and not self._is_undecided(
                home_posts.get(post)
            ):
                text = f"of {reader}: {home_posts.get(post)}, not {expected.get(post)}"
                yield Violation("home", text)

    def _is_undecided(self, seen: Seen | None) -> bool:
        """True for a repost that its reposter does not see itself, and so never decided."""
        return seen is not None and self._is_hidden(seen)

    def _expected_home(self, reader: int) -> dict[int, Seen]:
        """By post: its newest visible entry."""
        newest: dict[int, Seen] = {}
        for poster in {reader, *self._state.following[reader]}:
            if self._has(BARS, reader, poster):
                continue
            for seen in self._sources[poster]:
                is_newer = seen.post not in newest or newest[seen.post].entry < seen.entry
                is_barred = seen.reposter is not None and self._has(BARS, reader, seen.author)
                if is_newer and not is_barred:
                    newest[seen.post] = seen
        return newest

    def _is_hidden(self, seen: Seen) -> bool:
        """True if its reposter does not see a repost, because of a block."""
        return seen.reposter is not None and self._has(BLOCKS, seen.reposter, seen.author)

    def _has(self, bars: Iterable[str], reader: int, other: int) -> bool:
        flags = self._state.relationships.get((reader, other), {})
        return any(flags.get(bar) for bar in bars)


def _check_order(what: str, seen: Sequence[Seen]) -> Iterator[Violation]:
    ids = [item.entry for item in seen]
    if ids != sorted(set(ids), reverse=True):
        yield Violation("paging", f"{what} is not newest first, each entry once")
