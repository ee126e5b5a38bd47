"""Mastodon's entities of filters."""

from typing import Any

from posts.filters.matching import present_filter_head
from posts.filters.types import FilteredStatus, FilterKeyword, PostFilter


def present_filter(rule: PostFilter) -> dict[str, Any]:
    """A Filter with its keywords and statuses."""
    return {
        **present_filter_head(rule),
        "keywords": [present_keyword(keyword) for keyword in rule.keywords],
        "statuses": [present_filtered_status(status) for status in rule.statuses],
    }


def present_keyword(keyword: FilterKeyword) -> dict[str, Any]:
    """A FilterKeyword."""
    return {
        "id": str(keyword.id),
        "keyword": keyword.keyword,
        "whole_word": keyword.whole_word,
    }


def present_filtered_status(status: FilteredStatus) -> dict[str, Any]:
    """A FilterStatus."""
    return {"id": str(status.id), "status_id": status.status_id}


def present_phrase(rule: PostFilter, keyword: FilterKeyword) -> dict[str, Any]:
    """A filter of the old API: one keyword."""
    head = present_filter_head(rule)
    return {
        "id": str(keyword.id),
        "phrase": keyword.keyword,
        "context": head["context"],
        "whole_word": keyword.whole_word,
        "expires_at": head["expires_at"],
        "irreversible": rule.action == "hide",
    }
