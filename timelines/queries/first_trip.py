"""The first round trip of a home page: the log, the viewer's validators, and the live timeline."""

from infra.caching.invalidation_log import LOG
from infra.caching.questions import RoundTrip
from infra.caching.viewer_validators import ValidatorsQuestion
from posts.cache.viewer_state import ask_viewer_state
from relations.queries.following import ask_following_version
from timelines.hot.directory import directory
from timelines.hot.entries import hot_entries
from timelines.hot.queries.hot_followees import guess_hot_followees, list_hot_followees
from timelines.queries.merged import MergedTimeline
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline


class FirstTrip:
    """What Redis knows of a reader. Each answer is decoded at its first use.

    `log`: without an offset process memory must not be used. `ahead`: entries of hot authors that
    were stale in process memory, or from before `since_s`. Cost: one round trip; another one after
    a change of the reader's; two more queries and trips when the cached following list expired.
    """

    def __init__(self, reader_id: int, since_s: float = 0.0) -> None:
        self._reader_id, self._since_s = reader_id, since_s
        trip = RoundTrip()
        # The log and the validators come before the values that are kept under them.
        self.log = trip.ask(LOG.ask())
        self.validators = trip.ask(ValidatorsQuestion(reader_id))
        self._version = trip.ask(ask_following_version(reader_id, self.validators))
        self.viewer_state = trip.ask(ask_viewer_state(reader_id, self.validators))
        self._hot = trip.ask(directory.ask(self.log))
        self._ahead = trip.ask(hot_entries.ask(guess_hot_followees(reader_id), since_s))
        self._stored = trip.ask(timeline_store().ask(reader_id))
        trip.run()
        self.has_redis = trip.error is None

    def find_live(self) -> LiveTimeline | None:
        """The live timeline, if it reflects the reader's following list."""
        stored = self._stored.value
        if stored is None or stored.following_version != self._version.value:
            return None
        return stored

    def merge_hot_entries(self, live: LiveTimeline) -> MergedTimeline:
        """The timeline with the entries of the hot authors among the followees."""
        validator = self.validators.value.relationships
        followees = list_hot_followees(self._reader_id, self._hot.value, validator)
        return MergedTimeline(live, hot_entries.load(followees, self._since_s, self._ahead.value))
