"""The base class of all API views: DRF's parsing and schema without DRF's cost per request.

DRF negotiates a renderer, a version, permissions and throttles for every request. Here all answers
are JSON, and the class declares what a request needs, so it is computed once:

    class FollowView(Endpoint):
        scopes = {"POST": "write:follows"}

        def post(self, request: ApiRequest, account_id: int) -> HttpResponse: ...

`request.account_id` is the account of the caller. `request.data` has the parameters of a write; it
is parsed at its first use.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, NamedTuple

import structlog
from django.conf import settings
from django.core.signals import got_request_exception
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from rest_framework.views import APIView

from infra.api.answers import answer_error
from infra.api.bulk_places import serve_bulk
from infra.api.errors import (
    AccountFrozen,
    MethodNotAllowed,
    ScopeMissing,
    TidelineError,
    TokenInvalid,
    UserRequired,
)
from infra.api.live_parts import fill_live_parts
from infra.api.meters import Charge, Meter
from infra.api.rendering import add_trusted_headers, json_response
from infra.api.request import (
    DEADLINE_VARIABLE,
    ApiRequest,
    Caller,
    DeadlinePassed,
    read_caller_deadline,
)
from infra.confirmations import Outdated, Refused, confirm_now, confirming
from infra.deadline import ARRIVED, begin_deadline, end_deadline, has_caller_gone
from infra.moving import again_while_moving, beginning_again

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_CHARGED = "tideline.charged"
log = structlog.get_logger()


class Access(NamedTuple):
    """What one method of one view requires of its caller."""

    handler: str
    scope: str | None
    needs_token: bool
    needs_user: bool
    is_for_frozen: bool
    is_write: bool


# Of a request that gets to no handler of its own: it counts as any other.
_REFUSED = Access("refuse", None, False, False, True, True)


class Endpoint(APIView):
    """A view returns an HttpResponse or raises an error, which `answer_error` turns into one."""

    # The scope that a token must have, by method.
    scopes: ClassVar[Mapping[str, str]] = {}
    # GET works without a token, and so do methods without a scope. A token that is sent must still
    # be valid.
    public: ClassVar[bool] = False
    # An application's own token is not enough.
    needs_user: ClassVar[bool] = True
    # Accounts that moderators froze may use all methods, not only GET.
    for_frozen: ClassVar[bool] = False
    # The query has no parameters of writes: addresses are logged, and secrets must not be.
    body_only: ClassVar[bool] = False
    # GET takes about a millisecond of CPU at most, and waits for nothing but Redis if the caches
    # are warm. It is served in a shared thread (infra/shared_thread.py), where a request may begin
    # twice: it must change nothing that cannot be done twice.
    is_quick: ClassVar[bool] = False
    operation_suffix: ClassVar[str] = ""  # see infra.api.openapi

    _accesses: ClassVar[Mapping[str, Access]] = {}
    _authenticators: ClassVar[Sequence[Any]] = ()
    _parsers: ClassVar[Sequence[Any]] = ()
    _meters: ClassVar[Sequence[Meter]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        answered = [method for method in METHODS if hasattr(cls, method.lower())]
        accesses = {method: cls._access(method) for method in answered}
        if "GET" in accesses:
            accesses["HEAD"] = accesses["GET"]
        cls._accesses = accesses
        cls._authenticators = [authenticator() for authenticator in cls.authentication_classes]
        cls._parsers = [parser() for parser in cls.parser_classes]
        cls._meters = [meter() for meter in cls.meter_classes()]

    @classmethod
    def meter_classes(cls) -> Sequence[Callable[[], Meter]]:
        """Not DRF's throttle_classes: those set no headers, and other views use them too."""
        return [import_string(path) for path in settings.REQUEST_METERS]

    @classmethod
    def _access(cls, method: str) -> Access:
        scope = cls.scopes.get(method)
        needs_token = not cls.public or (scope is not None and method != "GET")
        needs_user = needs_token and cls.needs_user
        is_read = method == "GET"
        return Access(
            handler=method.lower(),
            scope=scope,
            needs_token=needs_token,
            needs_user=needs_user,
            is_for_frozen=is_read or cls.for_frozen,
            is_write=not is_read,
        )

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        access = self._accesses.get(request.method or "")
        if access is None:
            return self.answer_refusal(request, MethodNotAllowed(self._accesses))
        caller_ends_at = None
        if DEADLINE_VARIABLE in request.META:
            try:
                caller_ends_at = read_caller_deadline(request.META)
            except DeadlinePassed as error:
                return self._answer_error(request, error)
            except TidelineError as error:
                return self.answer_refusal(request, error)
        if access.is_write:
            return self._serve_write(access, request, args, kwargs)
        deadline = begin_deadline(caller_ends_at)
        try:
            return self._serve_read(access, request, args, kwargs)
        finally:
            end_deadline(deadline)

    def answer_refusal(self, request: HttpRequest, error: TidelineError) -> HttpResponse:
        """The answer to a request that gets to no handler. It counts against the quotas."""
        return self._serve_write(_REFUSED, request, (error,), {})

    def get_for(self, request: ApiRequest, **arguments: Any) -> HttpResponse:
        """GET as a part of another endpoint, which has found and charged the caller.

        Raises: as GET, and as a request that this endpoint refuses.
        """
        _check_access(request.user, self._accesses["GET"])
        answer: HttpResponse = self.get(request, **arguments)  # type: ignore[attr-defined]
        return answer

    def refuse(self, _request: ApiRequest, error: TidelineError) -> HttpResponse:
        raise error

    def _serve_read(
        self, access: Access, request: HttpRequest, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> HttpResponse:
        """Serves it again if a round trip says that what it took for right is not so any more."""
        while True:
            with suppress(Outdated), confirming():
                try:
                    answer = self._serve(access, request, args, kwargs)
                    confirm_now()
                except Refused as refused:
                    return self._answer_error(request, refused.error)
                return self._with_quotas(request, answer)

    def _serve_write(
        self, access: Access, request: HttpRequest, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> HttpResponse:
        return self._with_quotas(request, self._serve(access, request, args, kwargs))

    def _serve(
        self, access: Access, request: HttpRequest, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> HttpResponse:
        """Again while the rows that it needs are moving to another shard.

        The parameters are parsed once: a body can be read once only.
        """
        wrapped = ApiRequest(request, self._parsers, body_only=self.body_only)
        call = partial(self._call_handler, access, wrapped, request, args, kwargs)
        try:
            return again_while_moving(call, is_read=not access.is_write)
        except Exception as error:  # a client gets JSON for every error
            return self._answer_error(request, error)

    def _call_handler(
        self,
        access: Access,
        wrapped: ApiRequest,
        request: HttpRequest,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> HttpResponse:
        try:
            wrapped.user = caller = self._authenticate(request)  # type: ignore[assignment]
        except TidelineError:
            self._charge(request, None)
            raise
        # Before the refusals below, which are not free either.
        self._charge(request, caller)
        _check_access(caller, access)
        handle = partial(getattr(self, access.handler), wrapped, *args, **kwargs)
        if caller is not None and caller.is_bulk:
            answer: HttpResponse = serve_bulk(handle, request.META.get(ARRIVED))
        else:
            answer = handle()
        fill = beginning_again(fill_live_parts) if access.is_write else fill_live_parts
        fill(answer, caller.account_id if caller is not None else None)
        return answer

    def _answer_error(self, request: HttpRequest, error: Exception) -> HttpResponse:
        if isinstance(error, OperationalError) and has_caller_gone():
            error = DeadlinePassed()
        return answer_error(error, {}) or self._answer_unexpected(request)

    def _with_quotas(self, request: HttpRequest, answer: HttpResponse) -> HttpResponse:
        """The answer with the state of the quotas in its headers."""
        for charge in request.META.get(_CHARGED, ()):
            add_trusted_headers(answer, charge.headers())
        return answer

    def _authenticate(self, request: HttpRequest) -> Caller | None:
        """The caller, None without a token. Raises as the authenticator does."""
        proof = self._authenticators[0].authenticate(request) if self._authenticators else None
        caller: Caller | None = proof[0] if proof else None
        return caller

    def _charge(self, request: HttpRequest, caller: Caller | None) -> None:
        """A request that begins again is charged once. Raises: TooManyRequests."""
        charged: list[Charge] | None = request.META.get(_CHARGED)
        if charged is None:
            made = [meter.charge(request, caller) for meter in self._meters]
            request.META[_CHARGED] = charged = [charge for charge in made if charge is not None]
        for charge in charged:
            charge.settle()

    def _answer_unexpected(self, request: HttpRequest) -> HttpResponse:
        """An error of our own: logs the traceback and sends Django's signal for exceptions."""
        log.exception("request.failed", path=request.path, view=type(self).__name__)
        got_request_exception.send(sender=type(self), request=request)
        return json_response(b'{"error":"Something went wrong on our side"}', 500)


def _check_access(caller: Caller | None, access: Access) -> None:
    """Raises: TokenInvalid, UserRequired, ScopeMissing, AccountFrozen."""
    if caller is None:
        if access.needs_token:
            raise TokenInvalid
        return
    if access.scope is not None and access.scope not in caller.scopes:
        raise ScopeMissing(access.scope)
    if access.needs_user and caller.account_id is None:
        raise UserRequired
    if caller.is_frozen and not access.is_for_frozen:
        raise AccountFrozen
