"""Whether an answer lacks what databases have that did not answer (`scatter_available`).

How an answer says that it may lack what a database has that did not answer.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter

from infra.api.rendering import json_response

_missing: ContextVar[set[str] | None] = ContextVar("tideline_missing_databases", default=None)


@contextmanager
def noting_missing() -> Iterator[set[str]]:
    """The aliases of the databases that are left out in this block. Empty: none was.

    Safety: a call on a thread of `scatter` writes to the same set.
    """
    missing: set[str] = set()
    token = _missing.set(missing)
    try:
        yield missing
    finally:
        _missing.reset(token)


def note_missing(alias: str) -> None:
    """Outside of `noting_missing` it does nothing."""
    if (missing := _missing.get()) is not None:
        missing.add(alias)


INCOMPLETE = "Tideline-Incomplete"
INCOMPLETE_HEADER = OpenApiParameter(
    INCOMPLETE,
    {"type": "string", "enum": ["true"]},
    OpenApiParameter.HEADER,
    response=[200],
    description="Part of the site did not answer: there may be more. Absent from a whole answer",
)


def answer_available(find: Callable[[], bytes]) -> HttpResponse:
    """The JSON of what was found, with a header if a database was left out."""
    with noting_missing() as missing:
        body = find()
    return json_response(body, headers={INCOMPLETE: "true"} if missing else None)
