"""Gives a draft what its author wants for all posts, where the request says nothing."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from accounts.queries.profiles import get_preferences
from posts.actions.check_quote import POLICY
from posts.types import Draft, QuotePolicy, Visibility

NAMES = ("visibility", "sensitive", "language", POLICY)


def apply_defaults(author_id: int, draft: Draft, data: Mapping[str, Any]) -> Draft:
    """The draft with the author's visibility, sensitivity, language and policy of quotes, unless
    `data` has them.

    Raises: AccountNotFound. Cost: one query by key, if `data` lacks one of the four.
    """
    missing = {name for name in NAMES if data.get(name) in (None, "")}
    if not missing:
        return draft
    defaults = get_preferences(author_id)
    if "visibility" in missing:
        draft = replace(draft, visibility=Visibility[defaults.privacy.upper()])
    if "sensitive" in missing:
        draft = replace(draft, sensitive=draft.sensitive or defaults.sensitive)
    if POLICY in missing:
        draft = replace(draft, quote_policy=QuotePolicy[defaults.quote_policy.upper()])
    return replace(draft, language=draft.language or defaults.language or None)
