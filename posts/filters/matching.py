"""Applies the filters of a viewer to Status entities, as Mastodon does.

Each entity names the filters that it matches, of all contexts. It stays on the page: the client
knows what it shows, and hides it or warns.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import unescape
from typing import Any, NamedTuple, Self

import msgspec
import orjson

from posts.filters.types import FilterKeyword, PostFilter

_decoder = msgspec.json.Decoder(list[PostFilter])
_BREAKS = re.compile(r"<br ?/?>|</p>")
_TAGS = re.compile(r"<[^>]*>")
# A letter of a script that puts blanks between words. The others are Thai and Lao, Burmese, Hangul
# (its words have endings), Khmer, kana and Han.
_SPACED_LETTER = (
    r"[^\W\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u31ff\u3400-\u9fff"
    r"\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]"
)


class _Rule(NamedTuple):
    """A filter that is ready to be applied. `entity`: as the API shows it in a result."""

    filter: PostFilter
    entity: dict[str, Any]
    keywords: re.Pattern[str] | None
    status_ids: frozenset[str]

    @classmethod
    def of(cls, rule: PostFilter) -> Self:
        patterns = "|".join(map(_pattern_of, rule.keywords))
        compiled = re.compile(patterns, re.IGNORECASE) if patterns else None
        ids = frozenset(status.status_id for status in rule.statuses)
        return cls(rule, present_filter_head(rule), compiled, ids)

    @property
    def hides_at_home(self) -> bool:
        return self.filter.action == "hide" and "home" in self.filter.contexts

    def find_match(self, text: str, ids: Sequence[str]) -> dict[str, Any] | None:
        """The result for a post, None if it matches neither a keyword nor an id."""
        found = self.keywords.search(text) if self.keywords is not None else None
        named = [status_id for status_id in ids if status_id in self.status_ids]
        if found is None and not named:
            return None
        words = [found[0]] if found is not None else None
        return {"filter": self.entity, "keyword_matches": words, "status_matches": named or None}


class FilterSet:
    """The filters of one viewer. False if there are none."""

    def __init__(self, rules: Sequence[_Rule]) -> None:
        self._rules = rules

    @classmethod
    def decode(cls, text: bytes) -> Self:
        """From `[filter, …]` as JSON. Raises: ValueError."""
        return cls([_Rule.of(one) for one in _decoder.decode(text)])

    def __bool__(self) -> bool:
        return bool(self._rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FilterSet) and self._rules == other._rules

    __hash__ = None  # type: ignore[assignment]

    @property
    def have_end(self) -> bool:
        """Whether the clock ends one of them."""
        return any(rule.filter.expires_ms is not None for rule in self._rules)

    def at(self, now_ms: int) -> "FilterSet":
        """Those that hold at this time."""
        if not self.have_end:
            return self
        return FilterSet([rule for rule in self._rules if rule.filter.holds_at(now_ms)])

    def hide_at_home(self, fragment: bytes, ids: Sequence[str]) -> bool:
        """Whether a filter hides the post of this fragment in the home timeline.

        `ids`: public ids of the post and of the repost that shows it. Cost: the fragment is parsed
        if there are such filters.
        """
        rules = [rule for rule in self._rules if rule.hides_at_home]
        if not rules:
            return False
        text = _text_of(orjson.loads(b"{%b}" % fragment))
        return any(rule.find_match(text, ids) for rule in rules)

    def apply(self, status: bytes) -> bytes:
        """The Status entity with the results of all filters. Cost: it is parsed if there are any.

        The text of a repost is that of its original.
        """
        if not self._rules:
            return status
        event = orjson.loads(status)
        original = event["reblog"] or event
        text, ids = _text_of(original), list(dict.fromkeys((event["id"], original["id"])))
        results = [one for rule in self._rules if (one := rule.find_match(text, ids)) is not None]
        if not results:
            return status
        event["filtered"] = original["filtered"] = results
        return orjson.dumps(event)


NO_FILTERS = FilterSet(())


def present_filter_head(rule: PostFilter) -> dict[str, Any]:
    """A Filter entity without its keywords and statuses."""
    return {
        "id": str(rule.filter_id),
        "title": rule.title,
        "context": rule.contexts,
        "expires_at": _moment(rule.expires_ms),
        "filter_action": rule.action,
    }


def _pattern_of(rule: FilterKeyword) -> str:
    """A word begins and ends at a boundary only where the keyword has letters, as in Mastodon.

    Without blanks between words there are no boundaries, so there the word is found anywhere. A
    letter of such a script is a boundary of a word of another one.
    """
    text = re.escape(rule.keyword)
    if not rule.whole_word:
        return text
    start = f"(?<!{_SPACED_LETTER})" if re.match(_SPACED_LETTER, rule.keyword[0]) else ""
    end = f"(?!{_SPACED_LETTER})" if re.match(_SPACED_LETTER, rule.keyword[-1]) else ""
    return f"{start}{text}{end}"


def _text_of(status: dict[str, Any]) -> str:
    """What people typed: the warning, the text, descriptions of media. A poll is not there yet."""
    content = unescape(_TAGS.sub("", _BREAKS.sub("\n", status["content"])))
    described = [media.get("description") or "" for media in status["media_attachments"]]
    return "\n".join((status["spoiler_text"], content, *described))


def _moment(unix_ms: int | None) -> str | None:
    if unix_ms is None:
        return None
    moment = datetime.fromtimestamp(unix_ms / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{unix_ms % 1000:03d}Z"
