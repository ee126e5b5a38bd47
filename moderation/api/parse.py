"""Reads reports and appeals from requests. Validation errors are Mastodon's."""

from collections.abc import Mapping
from typing import Any

from accounts.errors import AccountNotFound
from infra.api.errors import Fault, InvalidRequest, ValidationFailed
from infra.api.ids import parse_account_id
from infra.api.nested import find_list
from infra.api.parsing import read_text
from moderation.errors import UnknownRule
from moderation.models import APPEAL_LENGTH, COMMENT_LENGTH
from moderation.types import Category, ReportDraft

MOST_POSTS = MOST_RULES = 100
RULE_DIGITS = 18


def read_report(data: Mapping[str, Any]) -> ReportDraft:
    """The report in a request.

    Raises: AccountNotFound (404), ValidationFailed, InvalidRequest (422).

    `forward` is ignored, because there are no other servers.
    """
    account_id = parse_account_id(str(data.get("account_id", "")))
    if account_id is None:
        raise AccountNotFound
    comment = read_text(data, "comment")
    if len(comment) > COMMENT_LENGTH:
        raise ValidationFailed([_too_long("comment", COMMENT_LENGTH)])
    rule_ids = _read_rule_ids(data)
    category = Category.VIOLATION if rule_ids else _read_category(data)
    return ReportDraft(account_id, _read_post_ids(data), comment, category, rule_ids)


def read_appeal(data: Mapping[str, Any]) -> str:
    """The text of an appeal in a request. Raises: ValidationFailed."""
    text = read_text(data, "text").strip()
    if not text:
        raise ValidationFailed([Fault("text", "ERR_BLANK", "can't be blank")])
    if len(text) > APPEAL_LENGTH:
        raise ValidationFailed([_too_long("text", APPEAL_LENGTH)])
    return text


def _read_category(data: Mapping[str, Any]) -> Category:
    """Of a report that names no rules: as in Mastodon, one that does is a violation."""
    named = read_text(data, "category")
    try:
        return Category(named) if named else Category.OTHER
    except ValueError:
        raise InvalidRequest(f"'{named[:40]}' is not a valid category") from None


def _read_post_ids(data: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, find_list(data, "status_ids", MOST_POSTS) or ())))


def _read_rule_ids(data: Mapping[str, Any]) -> tuple[int, ...]:
    sent = find_list(data, "rule_ids", MOST_RULES) or ()
    return tuple(dict.fromkeys(map(_read_rule_id, sent)))


def _read_rule_id(sent: object) -> int:
    text = str(sent)
    if not text.isascii() or not text.isdigit() or len(text) > RULE_DIGITS:
        raise UnknownRule
    return int(text)


def _too_long(field: str, most: int) -> Fault:
    return Fault(field, "ERR_TOO_LONG", f"is too long (maximum is {most} characters)")
