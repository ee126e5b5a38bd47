"""Relationships in process memory: a viewer's stay usable while nothing of the viewer's changes.

A page reads the viewer's validators in a round trip that it makes anyway. Every change of one of
the viewer's relationships ends the validator, so answers kept under the same validator still hold.
Without a validator nothing is used. A mute that ends by itself changes no validator: readers check
`muted_until_ms` by the clock.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from accounts.queries.existing_accounts import are_known_to_exist, ask_existing
from infra.caching.invalidation_log import LOG
from infra.caching.metrics import count_reads
from infra.caching.process_memory import most_entries
from infra.caching.questions import Question, RoundTrip, answer
from infra.caching.viewer_validators import (
    ValidatorsQuestion,
    ViewerCopies,
    find_known_validators,
)
from infra.shared_thread import need_own_thread
from relations.cache import RELATIONSHIPS
from relations.queries.relationships import (
    NO_RELATIONSHIPS,
    Relationships,
    ask_relationships,
)
from relations.types import UNRELATED, Relationship

BYTES_EACH = 85
# Of all viewers together, and of one viewer. Of others only the filter knows.
MOST_RELATIONSHIPS = most_entries("relations.relationship", share=0.205, bytes_each=BYTES_EACH)
MOST_OF_VIEWER = 500
# What a viewer takes without any, in their number.
A_VIEWER = 24


def _weigh(relationships: Relationships) -> int:
    """With the filter. A viewer without any takes memory, too."""
    in_filter = len(relationships.filter_data or b"") // BYTES_EACH
    return len(relationships.by_account) + in_filter + A_VIEWER


_by_viewer: ViewerCopies[Relationships] = ViewerCopies(
    RELATIONSHIPS.family, MOST_RELATIONSHIPS, _weigh
)


def find_kept_relationships(viewer_id: int, validator: bytes | None) -> Relationships | None:
    """The relationships that this process kept under exactly this validator."""
    return _by_viewer.find(viewer_id, validator)


def has_kept_relationships(viewer_id: int, others: Sequence[int]) -> bool:
    """Whether this process has the relationships with all of these, valid or not."""
    kept = _by_viewer.peek(viewer_id)
    return kept is not None and not kept.find_unknown(others)


def load_existing_relationships(viewer_id: int, others: Sequence[int]) -> dict[int, Relationship]:
    """Relationships with those of `others` that are accounts, in the order given.

    Each account is in `others` once. Cost: one round trip for the invalidation log, the validators,
    and what is not in process memory; none in the read window if all is; after a change of the
    viewer's one more. Profiles and relationships that Redis lacks come from the shards. Without
    Redis: two queries, and one per shard for profiles.
    """
    if not others:
        return {}
    known = _find_in_window(viewer_id, others)
    if known is not None:
        return known
    if not _by_viewer.has(viewer_id):
        need_own_thread()  # it mostly reads a shard
    trip = RoundTrip()
    log = trip.ask(LOG.ask())
    validators = trip.ask(ValidatorsQuestion(viewer_id))
    relationships = trip.ask(ask_relationships_under(viewer_id, others, validators))
    existing = trip.ask(ask_existing(others, log))
    trip.run()
    accounts, by_account = existing.value, relationships.value
    return {other: by_account[other] for other in others if other in accounts}


def _find_in_window(viewer_id: int, others: Sequence[int]) -> dict[int, Relationship] | None:
    """As `load_existing_relationships`, without a command. None: the read window is closed, or
    something is not in process memory."""
    validators = find_known_validators(viewer_id)
    kept = _by_viewer.find(viewer_id, validators.relationships) if validators is not None else None
    if kept is None or not are_known_to_exist(others):
        return None
    by_account = kept.by_account
    known = {other: by_account[other] for other in others if other in by_account}
    if len(known) < len(others):
        return None
    count_reads(RELATIONSHIPS.family, "process", len(others))
    return known


def ask_relationships_under(
    viewer_id: int, others: Collection[int], validators: ValidatorsQuestion
) -> Question[Mapping[int, Relationship]]:
    """Relationships with at least these accounts.

    `validators`: asked before in the same round trip. They say whether the relationships in process
    memory are valid; otherwise these are read again, in one more trip.
    """
    kept = _by_viewer.peek(viewer_id)
    if kept is None:
        asked = ask_kept_relationships(viewer_id, others, None)
        return asked.then(lambda loaded: loaded.by_account)
    missing = _ask_missing(viewer_id, kept, others)

    def complete(known: Relationships) -> Mapping[int, Relationship]:
        validator = validators.value.relationships
        if validator == kept.validator:
            return known.by_account
        return answer(ask_kept_relationships(viewer_id, others, validator)).by_account

    return missing.then(complete)


def ask_kept_relationships(
    viewer_id: int, others: Collection[int], validator: bytes | None
) -> Question[Relationships]:
    """Relationships with at least these accounts: those that this process kept under exactly this
    validator, and others as `ask_relationships`."""
    known = _by_viewer.find(viewer_id, validator) or NO_RELATIONSHIPS
    return _ask_missing(viewer_id, known, others)


def _ask_missing(
    viewer_id: int, known: Relationships, others: Collection[int]
) -> Question[Relationships]:
    """The known ones, and others: unrelated by the known filter, or as `ask_relationships`."""
    unknown = known.find_unknown(others)
    if not unknown:
        count_reads(RELATIONSHIPS.family, "process", len(others))
        return Question((), lambda _: known)
    unrelated = known.rule_out(unknown)
    asked = unrelated.find_unknown(unknown)
    count_reads(RELATIONSHIPS.family, "process", len(others) - len(asked), len(asked))
    _add_unrelated(viewer_id, unrelated)
    # A viewer may have many more in memory: to copy all of them would take longer than the rest.
    both = known.part_of(others).merged_with(unrelated)
    return ask_relationships(viewer_id, asked).then(partial(_keep, viewer_id, both))


def _keep(viewer_id: int, known: Relationships, loaded: Relationships) -> Relationships:
    """Both together. Adds the loaded ones to those in memory of the same validator, or replaces
    those of another."""
    if not loaded.by_account:
        return known
    kept, merged = _by_viewer.peek(viewer_id), loaded
    if kept is not None and kept.validator == loaded.validator:
        merged = _cut(kept.merged_with(loaded)) or loaded
    _by_viewer.keep(viewer_id, loaded.validator, merged)
    return known.merged_with(loaded)


def _cut(relationships: Relationships) -> Relationships | None:
    """Without the unrelated accounts if there are too many, because the filter knows those. None:
    there are still too many."""
    if len(relationships.by_account) <= MOST_OF_VIEWER:
        return relationships
    related = (
        i for i, relationship in relationships.by_account.items() if relationship != UNRELATED
    )
    part = relationships.part_of(related)
    return part if len(part.by_account) <= MOST_OF_VIEWER else None


def _add_unrelated(viewer_id: int, unrelated: Relationships) -> None:
    """Adds to those in memory of the same validator, while there is room."""
    kept = _by_viewer.peek(viewer_id)
    if kept is None or kept.validator != unrelated.validator:
        return
    if len(kept.by_account) + len(unrelated.by_account) <= MOST_OF_VIEWER:
        _by_viewer.keep(viewer_id, kept.validator, kept.merged_with(unrelated))
