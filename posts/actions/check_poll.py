"""Validates the poll in a request that publishes a post, and the choices of a vote."""

from collections.abc import Mapping
from typing import Any

from accounts.texts.lengths import is_longer
from infra.api.errors import InvalidRequest
from infra.api.nested import find_list, find_object, find_texts
from infra.api.parsing import read_count, read_flag
from posts.errors import InvalidDraft
from posts.types import Draft, NewPoll, PostRow

FEWEST_OPTIONS, MOST_OPTIONS, LONGEST_OPTION = 2, 4, 50
SHORTEST_S, LONGEST_S = 300, 2_629_746
MOST_CHOICE = 2**15 - 1


def check_poll(data: Mapping[str, Any], now_s: float) -> NewPoll | None:
    """The poll of a draft; None without one. Raises: InvalidDraft, InvalidRequest (both 422)."""
    fields = find_object(data, "poll")
    return _read_poll(fields, _read_end(fields, now_s)) if fields else None


def check_edited_poll(
    data: Mapping[str, Any], poll: Mapping[str, Any] | None, now_s: float
) -> NewPoll | None:
    """The poll of an edit; None keeps the old one. Without `expires_in` it ends with the old one.

    Raises: as `check_poll`.
    """
    fields = find_object(data, "poll")
    if fields is None:
        return None
    if poll is not None and fields.get("expires_in") in (None, ""):
        return _read_poll(fields, poll["expires_at_s"])
    return _read_poll(fields, _read_end(fields, now_s))


def refuse_with_images(draft: Draft, old: PostRow | None = None) -> None:
    """A post has a poll or images, as in Mastodon; one that has both already keeps them.

    `old`: what is edited; a draft without a poll keeps its poll. Raises: InvalidDraft.
    """
    old_poll = old.poll if old else None
    had_both = bool(old_poll and old and old.media)
    if draft.media and (draft.poll or old_poll) and not had_both:
        raise InvalidDraft("Validation failed: A post with a poll cannot have images")


def _read_end(fields: Mapping[str, Any], now_s: float) -> int:
    expires_in_s = read_count(fields, "expires_in", LONGEST_S)
    if expires_in_s < SHORTEST_S:
        raise InvalidDraft(f"Validation failed: Poll must last at least {SHORTEST_S} seconds")
    return int(now_s) + expires_in_s


def _read_poll(fields: Mapping[str, Any], expires_at_s: int) -> NewPoll:
    flags = read_flag(fields, "multiple"), read_flag(fields, "hide_totals")
    return NewPoll(_read_options(fields), *flags, expires_at_s)


def read_choices(data: Mapping[str, Any]) -> list[int]:
    """The places of the chosen options. Raises InvalidRequest."""
    sent = find_list(data, "choices")
    if not sent or len(sent) > MOST_OPTIONS:
        raise InvalidRequest(f"choices must have 1 to {MOST_OPTIONS} numbers of options")
    choices = [read_count({"choices": number}, "choices", MOST_CHOICE) for number in sent]
    if len(set(choices)) < len(choices):
        raise InvalidRequest("choices must be different")
    return choices


def _read_options(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Without blank ones, as in Mastodon."""
    options = [text.strip() for text in find_texts(fields, "options") or ()]
    if not FEWEST_OPTIONS <= len(options) <= MOST_OPTIONS:
        text = f"Poll must have {FEWEST_OPTIONS} to {MOST_OPTIONS} options"
    elif any(is_longer(option, LONGEST_OPTION) for option in options):
        text = f"Poll option character limit of {LONGEST_OPTION} exceeded"
    elif len(set(options)) < len(options):
        text = "Poll options must be different"
    else:
        return tuple(options)
    raise InvalidDraft(f"Validation failed: {text}")
