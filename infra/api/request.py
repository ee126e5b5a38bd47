"""A request as endpoints find it: DRF's, with the types that are true here."""

from collections.abc import Mapping
from typing import Any, Protocol

from django.http import QueryDict
from rest_framework.request import Request

from infra.api.errors import UserRequired


class _NoQuery(QueryDict):
    """QueryDict raises, and catches, an error of its own for each parameter that is not there."""

    def get(self, key: str, default: Any = None) -> Any:
        return default


NO_QUERY = _NoQuery()


class Caller(Protocol):
    """Who asks. `account_id` is None for an application without a user; `scopes` are all held."""

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


class ApiRequest(Request):
    """`user` is who asks, None only where the endpoint is public; `data` an object or a form."""

    # A plain attribute: DRF's is a property that would authenticate, which was done before.
    user: Caller = None  # type: ignore[assignment]
    data: Mapping[str, Any]  # type: ignore[assignment]

    @property
    def query_params(self) -> QueryDict:  # type: ignore[override]
        """The query's parameters, not parsed where there are none."""
        return self._request.GET if self._request.META.get("QUERY_STRING") else NO_QUERY

    @property
    def path(self) -> str:  # type: ignore[override]
        """DRF would look for it here first, and catch an error of its own."""
        return self._request.path

    @property
    def account_id(self) -> int:
        """The account that asks. Raises UserRequired; endpoints that need a user have done so."""
        if self.user is None or self.user.account_id is None:
            raise UserRequired
        return self.user.account_id

    @property
    def viewer_id(self) -> int | None:
        """The account that asks; None without a token, and for an application without a user."""
        return self.user.account_id if self.user is not None else None

    def is_from(self, account_id: int) -> bool:
        """Whether this account asks, and no other, nor anybody without a token."""
        return self.user is not None and self.user.account_id == account_id
