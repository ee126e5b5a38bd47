"""Parsing requests about account lists, sent as JSON or as form fields."""

from collections.abc import Mapping
from typing import Any

from infra.api.errors import Fault, InvalidRequest, ValidationFailed
from infra.api.ids import parse_account_id
from infra.api.nested import find_list
from infra.api.parsing import clean_text, find_flag
from relations.lists.actions.members import MOST_MEMBERS
from relations.lists.errors import ListNotFound
from relations.lists.models import LONGEST_TITLE
from relations.lists.types import ListOptions, RepliesPolicy

NO_ACCOUNT = 0  # no account has this id
LONGEST_ID = 18  # digits that fit the column
TOO_LONG = f"is too long (maximum is {LONGEST_TITLE} characters)"
POLICIES = {policy.name.lower(): policy for policy in RepliesPolicy}


def read_list_id(text: str) -> int:
    """The list id of a route. Raises ListNotFound for a text that cannot be an id."""
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_ID):
        raise ListNotFound
    return int(text)


def read_new_title(data: Mapping[str, Any]) -> str:
    """The title of a new list. Raises ValidationFailed, InvalidRequest."""
    title = _read_title(data)
    if title is None:
        raise ValidationFailed([Fault("title", "ERR_BLANK", "can't be blank")])
    return title


def read_list_options(data: Mapping[str, Any]) -> ListOptions:
    """The options that were sent; None for the others. Raises ValidationFailed, InvalidRequest."""
    return ListOptions(_read_title(data), _read_policy(data), find_flag(data, "exclusive"))


def read_account_ids(data: Mapping[str, Any]) -> list[int]:
    """0 for a text that is no id. Raises InvalidRequest."""
    sent = find_list(data, "account_ids", MOST_MEMBERS) or []
    texts = (str(account_id) if type(account_id) is int else account_id for account_id in sent)
    return [parse_account_id(text) or NO_ACCOUNT for text in texts]


def read_new_members(data: Mapping[str, Any]) -> list[int]:
    """As read_account_ids, but at least one. Raises InvalidRequest."""
    ids = read_account_ids(data)
    if not ids:
        raise InvalidRequest("account_ids must name at least one account")
    return ids


def _read_title(data: Mapping[str, Any]) -> str | None:
    if data.get("title") is None:
        return None
    title = clean_text(data["title"], "title").strip()
    if not title:
        raise ValidationFailed([Fault("title", "ERR_BLANK", "can't be blank")])
    if len(title) > LONGEST_TITLE:
        raise ValidationFailed([Fault("title", "ERR_TOO_LONG", TOO_LONG)])
    return title


def _read_policy(data: Mapping[str, Any]) -> RepliesPolicy | None:
    if data.get("replies_policy") is None:
        return None
    name = clean_text(data["replies_policy"], "replies_policy")
    if name not in POLICIES:
        text = "is not included in the list"
        raise ValidationFailed([Fault("replies_policy", "ERR_INCLUSION", text)])
    return POLICIES[name]
