"""Parses requests about notifications."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from infra.api.errors import InvalidRequest, ScopeMissing
from infra.api.ids import parse_account_id
from infra.api.nested import find_list
from infra.api.pages import Window, read_window
from infra.api.parsing import find_flag, read_flag, read_limit, read_text
from infra.api.request import ApiRequest
from notifications.types import (
    ALL_KINDS,
    FILTER_NAMES,
    GROUPED_KINDS,
    KIND_BY_NAME,
    MEASURE_BY_NAME,
    ONLY_FILTERED,
    ONLY_SHOWN,
    Measure,
    NotificationKind,
    Policy,
    Selection,
)

DEFAULT_LIMIT, MOST = 40, 80
MOST_REQUESTS = 40
DEFAULT_UNREAD, MOST_UNREAD = 100, 1_000
CONVERSATIONS_SCOPE = "read:statuses"
EXPANSIONS = ("full", "partial_avatars")


def read_page_window(request: ApiRequest) -> Window:
    """Raises: InvalidCursor, InvalidRequest."""
    limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
    return read_window(request.query_params, limit, 0)


def read_selection(request: ApiRequest) -> Selection:
    """The wanted notifications. Names of types that this server does not have match nothing.

    Raises: InvalidRequest.
    """
    query = request.query_params
    types, excluded = _names(request, "types"), set(_names(request, "exclude_types"))
    wanted = [KIND_BY_NAME[name] for name in types if name in KIND_BY_NAME] if types else ALL_KINDS
    kinds = [kind for kind in dict.fromkeys(wanted) if kind.public not in excluded]
    includes = read_flag(query, "include_filtered")
    verdicts = ONLY_SHOWN | ONLY_FILTERED if includes else ONLY_SHOWN
    return Selection(kinds, _read_account(query.get("account_id")), verdicts)


def read_grouped_types(request: ApiRequest) -> Collection[NotificationKind]:
    """The kinds that the client wants in groups. By default all that can be."""
    names = _names(request, "grouped_types")
    return [kind for kind in GROUPED_KINDS if kind.public in names] if names else GROUPED_KINDS


def read_is_partial(request: ApiRequest) -> bool:
    """Whether only the first account of each group is to be whole. Raises: InvalidRequest."""
    text = request.query_params.get("expand_accounts") or EXPANSIONS[0]
    if text not in EXPANSIONS:
        raise InvalidRequest(f"expand_accounts must be one of {', '.join(EXPANSIONS)}")
    return text == EXPANSIONS[1]


def read_unread_limit(request: ApiRequest) -> int:
    """Raises: InvalidRequest."""
    return read_limit(request.query_params.get("limit"), DEFAULT_UNREAD, MOST_UNREAD)


def read_with_conversations(request: ApiRequest) -> bool:
    """Whether unread conversations are to be counted too. They are posts: a token for notifications
    alone does not read them. Raises: InvalidRequest, ScopeMissing."""
    is_asked = read_flag(request.query_params, "conversations")
    if is_asked and CONVERSATIONS_SCOPE not in request.user.scopes:
        raise ScopeMissing(CONVERSATIONS_SCOPE)
    return is_asked


def read_measures(data: Mapping[str, Any]) -> dict[str, Measure]:
    """The measures that were sent, by the name of the policy's field. Raises: InvalidRequest."""
    sent = {name: read_text(data, name) for name in Policy._fields if data.get(name) is not None}
    for name, text in sent.items():
        if text not in MEASURE_BY_NAME:
            raise InvalidRequest(f"{name} must be one of {', '.join(MEASURE_BY_NAME)}")
    return {name: MEASURE_BY_NAME[text] for name, text in sent.items()}


def read_measures_v1(data: Mapping[str, Any]) -> dict[str, Measure]:
    """As `read_measures`, from the flags of version 1. Raises: InvalidRequest."""
    flags = {column: find_flag(data, name) for name, column in FILTER_NAMES.items()}
    return {
        column: Measure.FILTER if flag else Measure.ACCEPT
        for column, flag in flags.items()
        if flag is not None
    }


def read_request_ids(data: Mapping[str, Any]) -> list[int]:
    """The ids of requests, which are those of accounts. Raises: InvalidRequest."""
    texts = find_list(data, "id", MOST_REQUESTS)
    if not texts:
        raise InvalidRequest(f"id must be a list of 1 to {MOST_REQUESTS} ids")
    ids = [parse_account_id(text) for text in texts]
    if None in ids:
        raise InvalidRequest("id is not the id of a request")
    return [account_id for account_id in ids if account_id is not None]


def _names(request: ApiRequest, name: str) -> Sequence[str]:
    query = request.query_params
    return query.getlist(f"{name}[]") or query.getlist(name)


def _read_account(text: str | None) -> int | None:
    if not text:
        return None
    account_id = parse_account_id(text)
    if account_id is None:
        raise InvalidRequest("account_id is not the id of an account")
    return account_id
