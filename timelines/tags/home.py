"""A reader's home tags, and the posts with them, as a home timeline merges them."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice

from cachebox import LRUCache
from django.utils.functional import cached_property

from infra.caching.process_memory import most_entries
from infra.caching.questions import RoundTrip
from posts.ids import PACKED_BYTES, PostId
from timelines.tags.cache import HomeChoices, HomeTags, ask_home_choices
from timelines.tags.entries import ask_tag_entries, load_tag_entries
from timelines.tags.queries.tagged_posts import find_tagged, list_tagged
from timelines.tags.types import tag_id_of
from timelines.types import Entry, LiveTimeline, TimeRange

PULL_BATCH = 100
# A request reads at most so many, which is more than a catch-up looks at. So a flood of posts that
# the rules hide, of a limited account, costs a page no more than this. Posts of followees follow.
MOST_READ = 2_500
# Which lists the reader's last page had: a guess, so that the next page asks in its first trip.
_guesses: LRUCache[int, Sequence[int]] = LRUCache(
    most_entries("timelines.home_tags", share=0.005, bytes_each=500)
)


class TaggedEntries:
    """The posts with any of a reader's home tags, in page order, visible or not.

    `names`: the home tags, normalized. `complete_from`: no post of this second or later is missing
    in `packed`; older ones are read from the tag index.
    """

    def __init__(self, names: HomeTags, lists: Mapping[int, LiveTimeline]) -> None:
        self.names, self._lists = frozenset(names), lists
        self.complete_from = max(live.complete_from for live in lists.values())

    @cached_property
    def packed(self) -> list[bytes]:
        """Oldest first, without repeats."""
        mark = self.complete_from
        lists = (live._replace(complete_from=mark).packed for live in self._lists.values())
        return sorted({entry for entries in lists for entry in entries})

    def iter_older(self, time_range: TimeRange) -> Iterator[Entry]:
        """Posts inside the range, newest first. Uses SQL only below `complete_from`: one query on
        each shard that has one of the tags, for every PULL_BATCH posts. At most MOST_READ."""
        inside = map(Entry.from_packed, reversed(self._inside(time_range)))
        return islice(chain(inside, self._pull_older(time_range, newest_first=True)), MOST_READ)

    def iter_newer(self, time_range: TimeRange) -> Iterator[Entry]:
        """As `iter_older`, oldest first."""
        older = self._pull_older(time_range, newest_first=False)
        return islice(chain(older, map(Entry.from_packed, self._inside(time_range))), MOST_READ)

    def find_arrived(self, entries: Collection[Entry]) -> set[Entry]:
        """Those of the entries that have one of the tags, by the lists and below them by the index.

        Cost: nothing for entries that the lists answer for; else one query by key on each shard
        that has one of the tags.
        """
        listed, mark = frozenset(self.packed), self.complete_from
        older = [entry.event for entry in entries if entry.event.second < mark]
        indexed = find_tagged(list(self._lists), older) if older else frozenset()
        return {e for e in entries if e.packed in listed or e.event in indexed}

    def _inside(self, time_range: TimeRange) -> list[bytes]:
        first = bisect_right(self.packed, time_range.above.packed + b"\xff" * PACKED_BYTES)
        return self.packed[first : bisect_right(self.packed, time_range.below.packed)]

    def _pull_older(self, time_range: TimeRange, newest_first: bool) -> Iterator[Entry]:
        """Posts of the range that the lists may lack."""
        floor = PostId(self.complete_from, 0, 0)
        time_range = TimeRange(time_range.above, min(time_range.below, floor))
        while time_range.above < time_range.below:
            posts = list_tagged(list(self._lists), time_range, PULL_BATCH, newest_first)
            yield from map(Entry.of_post, posts)
            if len(posts) < PULL_BATCH:
                return
            time_range = time_range.after(posts[-1], newest_first)


def has_tagged_between(names: HomeTags, time_range: TimeRange) -> bool:
    """Whether there may be a post with one of these tags inside the range, visible or not.

    Cost: one round trip, and as `load_tag_entries`.
    """
    if not names:
        return False
    tagged = TaggedEntries(names, load_tag_entries([*map(tag_id_of, names)]))
    return next(tagged.iter_newer(time_range), None) is not None


class TaggedEntriesQuestion:
    """The reader's TaggedEntries, in a round trip. After it, `load`."""

    def __init__(self, trip: RoundTrip, reader_id: int) -> None:
        self._reader_id, self._guess = reader_id, _guesses.get(reader_id, ())
        self._chosen = trip.ask(ask_home_choices(reader_id))
        self._lists = trip.ask(ask_tag_entries(self._guess)) if self._guess else None

    @property
    def choices(self) -> HomeChoices:
        """The reader's home tags and other choices for home."""
        return self._chosen.value

    def load(self) -> TaggedEntries | None:
        """None for a reader without home tags. Cost: none if this process made the reader's last
        page and the home tags are the same; else one round trip. And as the questions say."""
        names = self.choices.tags
        if not names:
            _guesses.pop(self._reader_id, None)
            return None
        tag_ids = sorted(map(tag_id_of, names))
        if self._lists is not None and tag_ids == self._guess:
            return TaggedEntries(names, self._lists.value)
        _guesses[self._reader_id] = tag_ids
        return TaggedEntries(names, load_tag_entries(tag_ids))
