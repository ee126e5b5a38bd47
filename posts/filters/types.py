"""Values of filters."""

from collections.abc import Sequence

import msgspec

CONTEXTS = ("home", "notifications", "public", "thread", "account")
# `warn`: clients hide the post behind the title. `hide`: they leave it out. `blur`: they hide its
# media.
ACTIONS = ("warn", "hide", "blur")


class FilterKeyword(msgspec.Struct, frozen=True):
    """`whole_word`: the keyword does not match inside longer words."""

    id: int
    keyword: str
    whole_word: bool


class FilteredStatus(msgspec.Struct, frozen=True):
    """A post that is filtered by its id. `status_id`: as in the API."""

    id: int
    status_id: str


class PostFilter(msgspec.Struct, frozen=True):
    """A row, which is also the form in the viewer state. `expires_ms`: Unix milliseconds."""

    filter_id: int
    title: str
    contexts: Sequence[str]
    action: str
    expires_ms: int | None
    keywords: Sequence[FilterKeyword] = ()
    statuses: Sequence[FilteredStatus] = ()

    def holds_at(self, now_ms: int) -> bool:
        return self.expires_ms is None or now_ms < self.expires_ms


class KeywordEdit(msgspec.Struct, frozen=True):
    """A change of one keyword of a filter. `id` None: a new one. Other None: the value stays."""

    id: int | None = None
    keyword: str | None = None
    whole_word: bool | None = None
    is_removed: bool = False


class FilterEdit(msgspec.Struct, frozen=True):
    """A change of a filter. None: the value stays. `has_expiry`: `expires_ms` is new, also None."""

    title: str | None = None
    contexts: Sequence[str] | None = None
    action: str | None = None
    expires_ms: int | None = None
    has_expiry: bool = False
    keywords: Sequence[KeywordEdit] = ()
