"""Validates the poll in a request that publishes a post, and the choices of a vote."""

from collections.abc import Mapping
from typing import Any

from infra.api.errors import InvalidRequest
from infra.api.lengths import is_longer
from infra.api.nested import find_list, find_object, find_texts
from infra.api.parsing import read_count, read_flag
from posts.errors import InvalidDraft
from posts.types import NewPoll

FEWEST_OPTIONS, MOST_OPTIONS, LONGEST_OPTION = 2, 4, 50
SHORTEST_S, LONGEST_S = 300, 2_629_746
MOST_CHOICE = 2**15 - 1


def check_poll(data: Mapping[str, Any], now_s: float) -> NewPoll | None:
    """The poll of a draft: JSON, or Mastodon's form fields; None without one.

    Raises: InvalidDraft, InvalidRequest (both 422).
    """
    fields = find_object(data, "poll")
    if not fields:
        return None
    options = _read_options(fields)
    expires_in_s = read_count(fields, "expires_in", LONGEST_S)
    if expires_in_s < SHORTEST_S:
        raise InvalidDraft(f"Validation failed: Poll must last at least {SHORTEST_S} seconds")
    return NewPoll(
        options,
        read_flag(fields, "multiple"),
        read_flag(fields, "hide_totals"),
        int(now_s) + expires_in_s,
    )


def check_same_poll(data: Mapping[str, Any], poll: Mapping[str, Any] | None) -> None:
    """For edits, with which some clients send the poll. Raises: InvalidDraft for another one.

    Only its options are compared: its end cannot be sent, only how long a new poll would last.
    """
    fields = find_object(data, "poll")
    if fields and (poll is None or list(_read_options(fields)) != poll["options"]):
        raise InvalidDraft("Validation failed: The poll of a post cannot be changed")


def read_choices(data: Mapping[str, Any]) -> list[int]:
    """The places of the chosen options. Raises InvalidRequest."""
    sent = find_list(data, "choices")
    if not sent or len(sent) > MOST_OPTIONS:
        raise InvalidRequest(f"choices must have 1 to {MOST_OPTIONS} numbers of options")
    choices = [read_count({"choices": one}, "choices", MOST_CHOICE) for one in sent]
    if len(set(choices)) < len(choices):
        raise InvalidRequest("choices must be different")
    return choices


def _read_options(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Without blank ones, as in Mastodon."""
    options = [one.strip() for one in find_texts(fields, "options") or ()]
    if not FEWEST_OPTIONS <= len(options) <= MOST_OPTIONS:
        text = f"Poll must have {FEWEST_OPTIONS} to {MOST_OPTIONS} options"
    elif any(is_longer(one, LONGEST_OPTION) for one in options):
        text = f"Poll option character limit of {LONGEST_OPTION} exceeded"
    elif len(set(options)) < len(options):
        text = "Poll options must be different"
    else:
        return tuple(options)
    raise InvalidDraft(f"Validation failed: {text}")
