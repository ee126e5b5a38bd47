"""Replies to strangers that this process has read: later pages pass them without reading them.

The account that a post answers never changes. Which of these accounts a reader does not follow
holds while the validator of the reader's relationships is the same. A process that knows neither
reads the replies, and the rules leave them out: so nothing depends on this memory but the cost of a
page.
"""

from collections.abc import Iterable, Iterator

from cachebox import LRUCache

from infra.caching.process_memory import most_entries
from infra.caching.questions import Question, RoundTrip
from infra.caching.viewer_validators import (
    NO_VALIDATORS,
    ValidatorsQuestion,
    ViewerCopies,
    ViewerValidators,
)
from timelines.rules import VisibilityInputs
from timelines.types import Entry

# By the packed id of a reply, the account that it answers.
_answered: LRUCache[bytes, int] = LRUCache(
    most_entries("timelines.replies", share=0.02, bytes_each=200)
)
# What a reader takes without strangers, in their number. A reader has at most so many.
A_READER, MOST_STRANGERS = 6, 500
_strangers: ViewerCopies[frozenset[int]] = ViewerCopies(
    most_entries("timelines.strangers", share=0.02, bytes_each=90),
    lambda strangers: len(strangers) + A_READER,
)


class StrangersQuestion:
    """The accounts of which this process knows that the reader does not follow them, in a round
    trip. Cost: one command if it knows some."""

    def __init__(self, trip: RoundTrip, reader_id: int) -> None:
        self._reader_id = reader_id
        has_copy = _strangers.has(reader_id)
        asked = ValidatorsQuestion(reader_id) if has_copy else Question((), _no_validators)
        self._validators: Question[ViewerValidators] = trip.ask(asked)

    def find(self) -> frozenset[int]:
        validator = self._validators.value.relationships
        return _strangers.find(self._reader_id, validator) or frozenset()


def _no_validators(_: object) -> ViewerValidators:
    return NO_VALIDATORS


def without_replies_to(strangers: frozenset[int], entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries that are not known to be replies to these accounts. Reposts of them stay."""
    for entry in entries:
        event, original = entry
        answered = _answered.get(event.packed) if event == original else None
        if answered is None or answered not in strangers or answered == event.author_id:
            yield entry


def note_replies(inputs: VisibilityInputs) -> None:
    """Remembers the replies that a page has read, and which of the accounts the reader does not
    follow."""
    reader_id, related = inputs.viewer_id, inputs.relationships.by_account
    strangers = set[int]()
    for post_id, (answered, _) in inputs.addressed.items():
        if answered not in (None, reader_id, post_id.author_id) and post_id.author_id != reader_id:
            _answered[post_id.packed] = answered
            if not related[answered].is_followed:
                strangers.add(answered)
    if strangers:
        _keep(reader_id, inputs.relationships.validator, strangers)


def _keep(reader_id: int, validator: bytes | None, strangers: set[int]) -> None:
    known = _strangers.find(reader_id, validator) or frozenset()
    if strangers <= known:
        return
    both = known | strangers
    _strangers.keep(
        reader_id, validator, both if len(both) <= MOST_STRANGERS else frozenset(strangers)
    )
