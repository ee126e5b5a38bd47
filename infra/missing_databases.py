"""How an answer says that it may lack what a database has that did not answer."""

from collections.abc import Callable

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter

from infra.api.rendering import json_response
from infra.sharding.scatter import noting_missing

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
