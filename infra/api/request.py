"""The request that endpoints get: DRF's, with the types of this product.

The header by which a caller says how long it waits for the answer.

A read that is late then begins no other wait for a database (infra/deadline.py). A request that is
late before it begins, because it waited for a thread, does nothing at all; so does a write.
"""

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec
from django.conf import settings
from django.http import HttpRequest, QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.functional import cached_property
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Empty, Request

from infra.api.errors import InvalidRequest, TidelineError, UserRequired
from infra.api.nested import nest, nest_json
from infra.api.parsing import read_count
from infra.deadline import ARRIVED

DEADLINE_HEADER = "Tideline-Deadline-Ms"
DEADLINE_VARIABLE = f"HTTP_{DEADLINE_HEADER.upper().replace('-', '_')}"
LONGEST_MS = 600_000


class DeadlinePassed(TidelineError):
    """The caller no longer waits for this answer."""

    status = 504
    text = f"The time of {DEADLINE_HEADER} is over"


def read_caller_deadline(environment: Mapping[str, Any]) -> float:
    """When the caller of a request with this header ends to wait, by the monotonic clock.

    Raises: InvalidRequest; DeadlinePassed if that was before now.
    """
    wait_ms = read_count(
        {DEADLINE_HEADER: environment[DEADLINE_VARIABLE]}, DEADLINE_HEADER, LONGEST_MS
    )
    if wait_ms == 0:
        raise InvalidRequest(f"{DEADLINE_HEADER} must be a number from 1 to {LONGEST_MS}")
    now = time.monotonic()
    ends_at: float = environment.get(ARRIVED, now) + wait_ms / 1000
    if ends_at < now:
        raise DeadlinePassed
    return ends_at


# A query of account ids only, as most clients send them. Django needs 50 us to parse 20 of them.
_IDS_ONLY = re.compile(r"(id(?:\[\]|%5[Bb]%5[Dd])?)=[0-9]{1,10}(?:&\1=[0-9]{1,10}){0,99}")


class _NoQuery(QueryDict):
    """Faster than an empty QueryDict, which raises and catches an error for each parameter."""

    def get(self, key: str, default: Any = None) -> Any:
        return default


NO_QUERY = _NoQuery()


class Caller(Protocol):
    """The caller. `account_id`: None for an application without a user. `scopes`: all of them.

    `is_bulk`: the application lets people go first while the site is slow.
    """

    @property
    def account_id(self) -> int | None: ...
    @property
    def application_id(self) -> int: ...
    @property
    def scopes(self) -> frozenset[str]: ...
    @property
    def token_id(self) -> int: ...
    @property
    def is_frozen(self) -> bool: ...
    @property
    def is_bulk(self) -> bool: ...


class ApiRequest(Request):
    """`user`: the caller, None only if the endpoint is public."""

    # A plain attribute: DRF's property would authenticate again.
    user: Caller = None  # type: ignore[assignment]
    authenticators = ()
    negotiator = DefaultContentNegotiation()
    _data = _files = _full_data = _content_type = _stream = Empty  # type: ignore[assignment]

    def __init__(
        self, request: HttpRequest, parsers: Sequence[BaseParser], *, body_only: bool = False
    ) -> None:
        """Sets only what a request may differ in: most requests never parse a body."""
        self._request = request
        self.parsers = parsers
        self._body_only = body_only

    @cached_property
    def parser_context(self) -> dict[str, Any]:  # type: ignore[override]
        encoding = self._request.encoding or settings.DEFAULT_CHARSET
        return {"request": self, "encoding": encoding}

    @cached_property
    def data(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The parameters of a write: one object, of the body and of the query.

        A name that is in both has the body's value. Raises: InvalidRequest; as parsers do.
        """
        sent: Any = super().data
        body = nest(sent.lists()) if isinstance(sent, MultiValueDict) else nest_json(sent)
        query = NO_QUERY if self._body_only else self.query_params
        return {**nest(query.lists()), **body} if query else body

    def find_json(self, name: str) -> bytes | None:
        """The JSON of one parameter as the body has it; None unless the body is JSON and has it.

        `data` has read the body, and of a name that is twice in an object only the last value.
        """
        if isinstance(super().data, MultiValueDict) or not self._request.body:
            return None
        sent = msgspec.json.decode(self._request.body, type=dict[str, msgspec.Raw]).get(name)
        return None if sent is None else bytes(sent)

    @property
    def query_params(self) -> QueryDict:  # type: ignore[override]
        """The query's parameters. An empty query is not parsed."""
        return self._request.GET if self._request.META.get("QUERY_STRING") else NO_QUERY

    @property
    def id_list(self) -> Sequence[str]:
        """The query's values of `id[]`, or of `id` if it has none of those. In their order."""
        sent = self._request.META
        ids_only = _IDS_ONLY.fullmatch(sent.get("QUERY_STRING", ""))
        if ids_only is None or sent.get("CONTENT_TYPE"):  # which may name another encoding
            query = self.query_params
            return query.getlist("id[]") or query.getlist("id")
        name = ids_only[1]
        return ids_only[0].removeprefix(f"{name}=").split(f"&{name}=")

    @property
    def path(self) -> str:  # type: ignore[override]
        """Spares DRF's attribute lookup, which raises and catches an error."""
        return self._request.path

    @property
    def account_id(self) -> int:
        """The caller's account. Raises UserRequired, unless the endpoint needs a user anyway."""
        if self.user is None or self.user.account_id is None:
            raise UserRequired
        return self.user.account_id

    @property
    def viewer_id(self) -> int | None:
        """The account that asks; None without a token, and for an application without a user."""
        return self.user.account_id if self.user is not None else None

    def is_from(self, account_id: int) -> bool:
        """Whether the caller is this account."""
        return self.user is not None and self.user.account_id == account_id
