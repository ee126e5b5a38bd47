"""A GET without a body, with only what endpoints and middlewares of the API read."""

from functools import lru_cache
from typing import Any

from django.core.handlers.wsgi import LimitedStream, WSGIRequest
from django.http import QueryDict
from django.urls import ResolverMatch
from django.utils.functional import cached_property

# How many parsed queries are kept. Each takes about 1 kB at most.
_MOST_QUERIES, _LONGEST_QUERY = 1_024, 64


class GetRequest(WSGIRequest):
    """Django's for a GET, without the stream of a body. It takes a tenth of the time."""

    content_type: str | None = ""
    content_params: dict[str, str] | None = {}
    _read_started = False

    def __init__(self, environment: dict[str, Any], path: str, match: ResolverMatch | None) -> None:
        self.environ = self.META = environment
        self.path = self.path_info = path
        self.method = "GET"
        self.resolver_match = match

    def _read_query(self) -> QueryDict:
        """Short queries are kept: many requests have the same one, and parsing is slow."""
        query = self.META.get("QUERY_STRING", "")
        return parse_short(query) if len(query) <= _LONGEST_QUERY else _parse(query)

    GET = cached_property(_read_query)  # type: ignore[assignment]

    @cached_property
    def _stream(self) -> LimitedStream:  # type: ignore[override]
        return LimitedStream(self.environ["wsgi.input"], 0)


def _parse(query: str) -> QueryDict:
    """As Django parses it: WSGI gives each byte as one character. The result cannot be changed."""
    return QueryDict(query.encode("latin-1"))


parse_short = lru_cache(_MOST_QUERIES)(_parse)
