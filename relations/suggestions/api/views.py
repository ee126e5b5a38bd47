"""Endpoints of suggestions."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.serializers import CharField, ListField, Serializer

from accounts.api.schema import AccountEntity
from accounts.encode import is_discoverable
from accounts.queries.load import load_account_json, require_account
from infra.api.endpoint import Endpoint
from infra.api.parsing import LIMIT_DIGITS, read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.clock import now_ms
from infra.missing_databases import INCOMPLETE_HEADER, answer_available
from relations.suggestions.actions.dismiss import dismiss_suggestion
from relations.suggestions.queries.suggest import list_suggestions
from relations.types import UNRELATED
from relations.visibility import Surface, may_show

LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 0, "maximum": 10**LIMIT_DIGITS - 1},
    description="Most suggestions",
)
DEFAULT_LIMIT, MOST = 40, 80
DAY_MS = 86_400_000
# The names that Mastodon has for accounts of the second degree.
_SUGGESTION = b'{"source":"past_interactions","sources":["friends_of_friends"],"account":%b}'


class SuggestionEntity(Serializer[Any]):
    source = CharField(help_text="As Mastodon before 4.3 names the reason")  # type: ignore[assignment]
    sources = ListField(child=CharField(), help_text="Why the account is suggested")
    account = AccountEntity()


class SuggestionsView(Endpoint):
    """Accounts that many accounts I follow do follow, and I do not."""

    scopes = {"GET": "read:accounts"}

    @extend_schema(parameters=[LIMIT, INCOMPLETE_HEADER], responses=SuggestionEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        return answer_available(
            lambda: b"[%b]" % b",".join(_SUGGESTION % account for account in _find(request))
        )


class SuggestedAccountsView(Endpoint):
    """As `/api/v2/suggestions`, as a list of accounts."""

    scopes = {"GET": "read:accounts"}

    @extend_schema(parameters=[LIMIT, INCOMPLETE_HEADER], responses=AccountEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        return answer_available(lambda: b"[%b]" % b",".join(_find(request)))


class SuggestionView(Endpoint):
    """One suggestion."""

    scopes = {"DELETE": "write:accounts"}

    @extend_schema(responses={200: None})
    def delete(self, request: ApiRequest, account_id: int) -> HttpResponse:
        """Suggest the account to me no more."""
        require_account(account_id)
        dismiss_suggestion(request.account_id, account_id)
        return json_response(b"{}")


def _find(request: ApiRequest) -> list[bytes]:
    """Accounts that want to be suggested, as many as the request asks for."""
    limit, at_ms = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST), now_ms()
    ids = list_suggestions(request.account_id, at_ms // DAY_MS)
    shown: list[bytes] = []
    for start in range(0, len(ids), MOST):
        accounts = load_account_json(ids[start : start + MOST]).values()
        shown += [
            account
            for account in accounts
            if is_discoverable(account) and may_show(Surface.SUGGESTED, UNRELATED, at_ms, account)
        ]
        if len(shown) >= limit:
            break
    return shown[:limit]
