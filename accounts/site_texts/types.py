"""The texts of the site as pages and the API show them."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple


class SiteRuleText(NamedTuple):
    """`translations`: by language, `text` and `hint`."""

    rule_id: int
    text: str
    hint: str
    translations: Mapping[str, Mapping[str, str]]


class LongText(NamedTuple):
    """`html`: of the Markdown; empty without a text."""

    html: str
    changed_at: datetime | None


class SiteDescription(NamedTuple):
    """`reasons`: those that moderators are suggested; not public. `contact_id`: the account of who
    runs the site."""

    summary: str
    run_by: str
    email: str
    about: LongText
    privacy: LongText
    rules: tuple[SiteRuleText, ...]
    reasons: tuple[str, ...]
    contact_id: int | None = None


EMPTY = SiteDescription("", "", "", LongText("", None), LongText("", None), (), ())


def split_reasons(text: str) -> list[str]:
    """The lines of the text that are not empty, each once."""
    return list(dict.fromkeys(filter(None, map(str.strip, text.splitlines()))))
