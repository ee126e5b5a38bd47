"""Reads reports and appeals from requests. Validation errors are Mastodon's."""

from collections.abc import Mapping
from typing import Any

from accounts.errors import AccountNotFound
from infra.api.errors import Fault, InvalidRequest, ValidationFailed
from infra.api.ids import parse_account_id
from infra.api.nested import find_list
from infra.api.parsing import read_text
from moderation.models import APPEAL_LENGTH, COMMENT_LENGTH
from moderation.types import Category, ReportDraft

MOST_POSTS = 100


def read_report(data: Mapping[str, Any]) -> ReportDraft:
    """The report in a request.

    Raises: AccountNotFound (404), ValidationFailed, InvalidRequest (422).

    `forward` is ignored, because there are no other servers. `rule_ids` only sets the category.
    """
    account_id = parse_account_id(str(data.get("account_id", "")))
    if account_id is None:
        raise AccountNotFound
    comment = read_text(data, "comment")
    if len(comment) > COMMENT_LENGTH:
        raise ValidationFailed([_too_long("comment", COMMENT_LENGTH)])
    return ReportDraft(account_id, _read_post_ids(data), comment, _read_category(data))


def read_appeal(data: Mapping[str, Any]) -> str:
    """The text of an appeal in a request. Raises: ValidationFailed."""
    text = read_text(data, "text").strip()
    if not text:
        raise ValidationFailed([Fault("text", "ERR_BLANK", "can't be blank")])
    if len(text) > APPEAL_LENGTH:
        raise ValidationFailed([_too_long("text", APPEAL_LENGTH)])
    return text


def _read_category(data: Mapping[str, Any]) -> Category:
    """The category; a report that names rules but no category is a violation, as in Mastodon."""
    named = read_text(data, "category")
    if not named:
        return Category.VIOLATION if data.get("rule_ids") else Category.OTHER
    try:
        return Category(named)
    except ValueError:
        raise InvalidRequest(f"'{named[:40]}' is not a valid category") from None


def _read_post_ids(data: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, find_list(data, "status_ids", MOST_POSTS) or ())))


def _too_long(field: str, most: int) -> Fault:
    return Fault(field, "ERR_TOO_LONG", f"is too long (maximum is {most} characters)")
