"""Whole answers of GETs that a process remembers (remembered.py)."""

from collections.abc import Callable, Sequence
from functools import wraps
from sys import getsizeof
from typing import Any, NamedTuple, Self, TypeVar, cast

from django.http import HttpResponse

from infra.api.rendering import JsonAnswer
from infra.api.request import ApiRequest
from infra.caching.remembered import Memory
from infra.caller_acts import acts_of_request
from infra.clock import now_ms

Get = TypeVar("Get", bound=Callable[..., HttpResponse])
# What an answer may depend on besides the path and the caller.
_HEADERS = ("QUERY_STRING", "CONTENT_TYPE", "HTTP_IF_NONE_MATCH")
# Bytes of the headers that each answer has, besides their table.
_HEADER_TEXTS = 400


class RememberedAnswer(NamedTuple):
    """`parts`: of the body. `headers`: as JsonAnswer has them."""

    parts: Sequence[bytes]
    status: int
    headers: dict[str, tuple[str, str]]

    @classmethod
    def of(cls, response: HttpResponse) -> Self:
        answer = cast(JsonAnswer, response)
        return cls((*answer.parts,), answer.status_code, dict(answer.headers._store))

    def response(self) -> JsonAnswer:
        """A new one each time: headers with the quota are added to it."""
        return JsonAnswer(self.parts, self.status, dict(self.headers))

    @property
    def size(self) -> int:
        """Bytes. Answers share the parts that many of them have; each is counted once here."""
        parts = sum(map(getsizeof, {id(part): part for part in self.parts}.values()))
        return parts + getsizeof(self.parts) + getsizeof(self.headers) + _HEADER_TEXTS


_answers: Memory[RememberedAnswer] = Memory("infra.answers", lambda made: made.size)


def remembered(get: Get) -> Get:
    """The `get` of an Endpoint that depends on nothing but the request, its caller and what it
    reads, and that does nothing but read. Errors are not remembered. While acts of the caller are
    pending, its answers are not either.

    Cost: one round trip for an answer that this process remembers, else that of `get`.
    """

    @wraps(get)
    def answer(view: Any, request: ApiRequest, *arguments: Any, **named: Any) -> HttpResponse:
        sent, caller = request._request.META, request.user
        # The token of a service asks for many accounts.
        who = None if caller is None else (caller.token_id, caller.account_id)
        key = (request.path, who, *map(sent.get, _HEADERS))
        made = _answers.find_or_make(
            key, now_ms(), lambda: RememberedAnswer.of(get(view, request, *arguments, **named))
        )
        if acts_of_request():  # lists may have another member then, and no reply says so
            return get(view, request, *arguments, **named)
        return made.response()

    return answer  # type: ignore[return-value]
