"""Applies the filters of a viewer to Status entities, as Mastodon does.

Each entity names the filters that it matches, of all contexts. It stays on the page: the client
knows what it shows, and hides it or warns.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import unescape
from typing import Any, Self

import orjson
from django.utils.functional import cached_property

from infra.evidence import note_other_source
from posts.filters.searching import FilterSearch, decode_filters, search_of
from posts.filters.types import PostFilter
from posts.fragments.places import options_at

_BREAKS = re.compile(r"<br ?/?>|</p>")
_TAGS = re.compile(r"<[^>]*>")
# The end of a long address says nothing, and must not push words out of the text to search.
_LONG_ENDS = re.compile(r'(<span class="invisible">[^<]{200})[^<]+')
Entity = dict[str, Any]


class FilterSet:
    """The filters of one viewer. False if there are none."""

    def __init__(self, text: bytes = b"", have_end: bool = False, now_ms: int = 0) -> None:
        self._text = text
        self._now_ms = now_ms
        # Whether the clock ends one of them.
        self.have_end = have_end

    @classmethod
    def decode(cls, text: bytes) -> Self:
        """From `[filter, …]` as JSON. Raises: ValueError."""
        filters = decode_filters(text)
        return cls(text if filters else b"", any(rule.expires_ms is not None for rule in filters))

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FilterSet) and self._text == other._text

    __hash__ = None  # type: ignore[assignment]

    def at(self, now_ms: int) -> "FilterSet":
        """For one request: those that hold at this time. The search is not kept with the others."""
        if self.have_end:
            note_other_source()  # the clock
        return FilterSet(self._text, self.have_end, now_ms)

    def hide_at_home(self, fragment: bytes, ids: Sequence[str]) -> bool:
        """Whether a filter hides the post of this fragment in the home timeline.

        `ids`: public ids of the post and of the repost that shows it. Cost: the fragment is parsed
        if there are such filters.
        """
        rules = [rule for rule in self._held if rule.action == "hide" and "home" in rule.contexts]
        if not rules:
            return False
        text = _text_of(orjson.loads(b"{%b}" % fragment))
        return any(self._find_results(rules, text, ids))

    def apply(self, status: bytes) -> bytes:
        """The Status entity with the results of all filters. Cost: it is parsed if there are any.

        The text of a repost is that of its original.
        """
        if not self._held:
            return status
        event = orjson.loads(status)
        original = event["reblog"] or event
        text, ids = _text_of(original), list(dict.fromkeys((event["id"], original["id"])))
        results = list(self._find_results(self._held, text, ids))
        if not results:
            return status
        event["filtered"] = original["filtered"] = results
        return orjson.dumps(event)

    @cached_property
    def _search(self) -> FilterSearch:
        return search_of(self._text)

    @cached_property
    def _held(self) -> Sequence[PostFilter]:
        if not self._text:
            return ()
        return [rule for rule in self._search.filters if rule.holds_at(self._now_ms)]

    def _find_results(
        self, rules: Sequence[PostFilter], text: str, ids: Sequence[str]
    ) -> Iterator[Entity]:
        """The results for a post of the filters that match it."""
        numbers = self._search.find(text)
        for rule in rules:
            words = [word.keyword for word in rule.keywords if word.id in numbers][:1]
            named = [status.status_id for status in rule.statuses if status.status_id in ids]
            if words or named:
                head = present_filter_head(rule)
                named_in_order = [post_id for post_id in ids if post_id in named]
                yield {
                    "filter": head,
                    "keyword_matches": words or None,
                    "status_matches": named_in_order or None,
                }


NO_FILTERS = FilterSet()


def present_filter_head(rule: PostFilter) -> dict[str, Any]:
    """A Filter entity without its keywords and statuses."""
    return {
        "id": str(rule.filter_id),
        "title": rule.title,
        "context": rule.contexts,
        "expires_at": _moment(rule.expires_ms),
        "filter_action": rule.action,
    }


def _text_of(status: Entity) -> str:
    """All that people typed: the warning, options of a poll, the text, descriptions of media."""
    html = _LONG_ENDS.sub(r"\1", _BREAKS.sub("\n", status["content"]))
    content = unescape(_TAGS.sub("", html))
    described = [media.get("description") or "" for media in status["media_attachments"]]
    texts = (status["spoiler_text"], *options_at(status["poll"]), content, *described)
    return "\n".join(texts)


def _moment(unix_ms: int | None) -> str | None:
    if unix_ms is None:
        return None
    moment = datetime.fromtimestamp(unix_ms / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{unix_ms % 1000:03d}Z"
