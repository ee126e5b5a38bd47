"""The entries of timelines that calls wrote: posts and reposts, and until when they may be seen."""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from operator import attrgetter

from lab.faults.history.calls import ClientCall, Seen
from lab.faults.history.promises import Promises, StartingWorld

# Of an unknown write: the account, and the post of a repost.
Source = tuple[int, int | None]


@dataclass(slots=True)
class Written:
    """An entry. `acked_s` and `due_s` are infinite if no answer named it.

    `gone_from_s`: from then on it may be gone. `gone_by_s`: from then on it must be. A repost is
    gone with its post, but may count until the drain has undone it: `ended_from_s`, `ended_by_s`.
    """

    seen: Seen
    began_s: float
    acked_s: float = inf
    due_s: float = inf
    gone_from_s: float = inf
    gone_by_s: float = inf
    ended_from_s: float = inf
    ended_by_s: float = inf

    @property
    def poster(self) -> int:
        return poster_of(self.seen)

    def may_exist(self, began_s: float, ended_s: float) -> bool:
        return self.began_s < ended_s and self.gone_by_s >= began_s


def poster_of(seen: Seen) -> int:
    """The account whose entry it is."""
    return seen.author if seen.reposter is None else seen.reposter


class _Removals:
    """Calls (begin, end) that removed one thing. An unknown one ends never."""

    def __init__(self, calls: list[tuple[float, float]]) -> None:
        by_end, by_begin = sorted((end, begin) for begin, end in calls), sorted(calls)
        self._ends = [end for end, _ in by_end]
        self._first_begin = _suffix_minimum(begin for _, begin in by_end)
        self._begins = [begin for begin, _ in by_begin]
        self._first_end = _suffix_minimum(end for _, end in by_begin)

    def apply(self, entry: Written, is_final: bool) -> None:
        """`is_final`: a thing that is removed never comes back, so also an earlier call counts.

        Else calls that ended after the entry's begin may remove it, and those that began after its
        answer must.
        """
        may = 0 if is_final else bisect_right(self._ends, entry.began_s)
        must = 0 if is_final else bisect_left(self._begins, entry.acked_s)
        entry.gone_from_s = min(entry.gone_from_s, self._first_begin[may])
        entry.gone_by_s = min(entry.gone_by_s, self._first_end[must])


class Entries:
    """All entries by id, and the unknown writes that may explain an id that no answer named.

    `by_poster`, `by_post`: the ids of writes that have begun, the lowest first. The checker removes
    from `by_poster` what no later page needs.
    """

    def __init__(
        self, calls: Sequence[ClientCall], promises: Promises, world: StartingWorld
    ) -> None:
        self.by_id: dict[int, Written] = {}
        self.by_poster: dict[int, list[int]] = defaultdict(list)
        self.by_post: dict[int, list[int]] = defaultdict(list)
        self._unknown: dict[Source, deque[float]] = {}
        self._reposts: dict[int, list[Source]] = {}
        self._removals = _removals_of(calls)
        self._promises = promises
        for seen in world.entries:
            self._add(Written(seen, -inf, -inf, -inf))
        self._read(calls)
        self._later = deque(sorted(self.by_id.values(), key=attrgetter("began_s")))

    def advance(self, to_s: float) -> None:
        """Adds the writes that began before this time to `by_poster` and `by_post`."""
        while self._later and self._later[0].began_s < to_s:
            self._list(self._later.popleft())

    def unknown_begins(self) -> dict[int, list[float]]:
        """When the writes began that no answer and no reader has named, by account."""
        begins: dict[int, list[float]] = defaultdict(list)
        for (account, _), waiting in self._unknown.items():
            begins[account] += waiting
        return begins

    def waiting_reposters(self, post: int, before_s: float) -> Iterator[int]:
        """Accounts whose repost of the post has an unknown outcome and was never seen."""
        for source in self._reposts.get(post, ()):
            if self._may_come(source, before_s):
                yield source[0]

    def find(self, seen: Seen, read_ended_s: float) -> Written | None:
        """The entry that a reader found. An unknown write explains one new id; None: no write."""
        known = self.by_id.get(seen.entry)
        if known is not None:
            return known if known.seen == seen else None
        source = _source_of(seen)
        if not self._may_come(source, read_ended_s):
            return None
        written = Written(seen, self._unknown[source].popleft())
        self._add(written)
        self._list(written)
        return written

    def _may_come(self, source: Source, before_s: float) -> bool:
        waiting = self._unknown.get(source)
        return waiting is not None and len(waiting) > 0 and waiting[0] < before_s

    def _read(self, calls: Iterable[ClientCall]) -> None:
        known, unknown = _effects(calls)
        self._unknown = {source: deque(sorted(begins)) for source, begins in unknown.items()}
        self._reposts = _by_post(self._unknown)
        for seen, (began_s, acked_s) in known.items():
            if seen.reposter is not None:  # an unknown call may have made it before
                began_s = min([began_s, *unknown.get(_source_of(seen), ())])
            self._add(Written(seen, began_s, acked_s, self._promises.due_s(acked_s)))

    def _add(self, entry: Written) -> None:
        seen = entry.seen
        self._remove(entry, (seen.reposter, seen.post), False)
        self._remove(entry, seen.entry, True)
        ended_by_s = entry.gone_by_s
        self._remove(entry, seen.post, True)
        with_post_s = self._promises.due_s(max(entry.gone_by_s, entry.acked_s))
        entry.ended_from_s, entry.ended_by_s = entry.gone_from_s, min(ended_by_s, with_post_s)
        self.by_id[seen.entry] = entry

    def _list(self, entry: Written) -> None:
        seen = entry.seen
        insort(self.by_poster[entry.poster], seen.entry)
        insort(self.by_post[seen.post], seen.entry)

    def _remove(self, entry: Written, what: object, is_final: bool) -> None:
        if what in self._removals:
            self._removals[what].apply(entry, is_final)


def _removals_of(calls: Iterable[ClientCall]) -> dict[object, _Removals]:
    spans: dict[object, list[tuple[float, float]]] = defaultdict(list)
    for call in calls:
        if call.kind in ("delete", "unrepost") and call.outcome != "failed":
            what = call.target if call.kind == "delete" else (call.account, call.target)
            spans[what].append((call.began_s, _end_s(call)))
    return {what: _Removals(times) for what, times in spans.items()}


def _end_s(call: ClientCall) -> float:
    return call.ended_s if call.outcome == "ok" else inf


def _by_post(sources: Iterable[Source]) -> dict[int, list[Source]]:
    """The unknown reposts of each post."""
    reposts: dict[int, list[Source]] = defaultdict(list)
    for source in sources:
        if source[1] is not None:
            reposts[source[1]].append(source)
    return reposts


def _source_of(seen: Seen) -> Source:
    return (poster_of(seen), None if seen.reposter is None else seen.post)


Times = tuple[float, float]  # begin and answer


def _effects(calls: Iterable[ClientCall]) -> tuple[dict[Seen, Times], dict[Source, list[float]]]:
    """The entries with their times, and the begins of the unknown writes.

    Calls with one Idempotency-Key, and reposts that were answered with one id, are one write.
    """
    known: dict[Seen, Times] = {}
    unknown: dict[Source, list[float]] = defaultdict(list)
    for attempts in _writes(calls):
        began_s = min(call.began_s for call in attempts)
        made = [(seen, call.ended_s) for call in attempts if (seen := _made_by(call))]
        for seen, ended_s in made:
            first_s, acked_s = known.get(seen, (began_s, inf))
            known[seen] = (min(first_s, began_s), min(acked_s, ended_s))
        if not made:
            target = attempts[0].target if attempts[0].kind == "repost" else None
            unknown[attempts[0].account, target].append(began_s)
    return known, unknown


def _writes(calls: Iterable[ClientCall]) -> Iterable[list[ClientCall]]:
    """The calls that wrote an entry, those with one key together."""
    groups: dict[object, list[ClientCall]] = defaultdict(list)
    for number, call in enumerate(calls):
        if call.kind in ("post", "repost") and call.outcome != "failed":
            groups[(call.account, call.key) if call.key else number].append(call)
    return groups.values()


def _made_by(call: ClientCall) -> Seen | None:
    """None: unknown."""
    if call.outcome != "ok" or call.made is None:
        return None
    if call.kind == "post":
        return Seen(call.made, call.made, call.account)
    post = call.made if call.target is None else call.target
    return Seen(call.made, post, author_of(post), call.account)


def author_of(post_id: int) -> int:
    """An id has six base36 digits of the second, six of the author, two of the sequence."""
    return post_id // 36**2 % 36**6


def second_of(post_id: int) -> int:
    """The second in which it was made, by the clock of the process that made it."""
    return post_id // 36**8


def _suffix_minimum(values: Iterable[float]) -> list[float]:
    """The minimum of each value and those after it; infinity at the end."""
    backwards: Iterator[float] = accumulate([inf, *reversed([*values])], min)
    return [*backwards][::-1]
