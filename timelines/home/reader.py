"""The reader of a home page: what Redis knows of the reader, in one round trip."""

from collections.abc import Mapping

from django.utils.functional import cached_property

from infra.caching.questions import RoundTrip
from posts.cache.viewer_state import ask_viewer_state
from relations.queries.following import ask_following_version
from timelines.addressed import HOME_SCOPES, ReplyScope
from timelines.feeds.known_replies import StrangersQuestion
from timelines.home.merged import MergedTimeline
from timelines.hot.entries import HotEntries, ask_hot_entries, load_hot_entries
from timelines.hot.queries.hot_followees import HotFolloweesQuestion
from timelines.polling.ordinary import ask_has_polled
from timelines.polling.records import Poller
from timelines.stores.factory import timeline_store
from timelines.tags.home import TaggedEntries, TaggedEntriesQuestion
from timelines.types import LiveTimeline


class HomeReader:
    """What Redis knows of a reader. Each answer is decoded at its first use.

    `poller`: whose client may poll from the page. `has_redis`: whether Redis answered.
    `viewer_state`: the reader's favourites, bookmarks, reposts and filters.

    Cost: one round trip. One more each if the reader's hot followees or home tags are not known,
    and as the questions say for what Redis lacks.
    """

    def __init__(self, reader_id: int, poller: Poller | None = None) -> None:
        self.reader_id, trip = reader_id, RoundTrip()
        # Hot authors come before the timeline and before their entries: see `ask_hot_authors`.
        self._hot = HotFolloweesQuestion(trip, reader_id)
        self._version = trip.ask(ask_following_version(reader_id))
        self.viewer_state = trip.ask(ask_viewer_state(reader_id))
        self._stored = trip.ask(timeline_store().ask(reader_id))
        self._hot_entries = trip.ask(ask_hot_entries(self._hot.guess))
        self._tagged = TaggedEntriesQuestion(trip, reader_id)
        self._strangers = StrangersQuestion(trip, reader_id)
        self.has_polled = trip.ask(ask_has_polled(poller))
        trip.run()
        self.has_redis = trip.error is None

    @cached_property
    def live(self) -> LiveTimeline | None:
        """The live timeline, if it reflects the reader's following list."""
        stored = self._stored.value
        if stored is None or stored.following_version != self._version.value:
            return None
        return stored

    @property
    def replies(self) -> ReplyScope:
        """Which replies the reader wants at home."""
        return HOME_SCOPES[self._tagged.choices.replies]

    @cached_property
    def strangers(self) -> frozenset[int]:
        """Accounts whose answers home does not show, as far as this process knows; none if the
        reader wants all replies, or those with home tags."""
        wants_some = self.replies.to_all or self._tagged.choices.tags
        return frozenset() if wants_some else self._strangers.find()

    @cached_property
    def tagged(self) -> TaggedEntries | None:
        """The posts with the reader's home tags; None for a reader without any."""
        return self._tagged.load()

    def merge_hot_entries(self, live: LiveTimeline) -> MergedTimeline:
        """The timeline with the entries of the hot authors among the followees."""
        followees = self._hot.load()
        read: Mapping[int, HotEntries] = self._hot_entries.value if followees else {}
        missing = [author for author in followees if author not in read]
        read = {**read, **load_hot_entries(missing)} if missing else read
        return MergedTimeline(live, [read[author] for author in followees])
