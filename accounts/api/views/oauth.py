"""The token endpoints of OAuth2, with Mastodon's answers."""

import time
from datetime import UTC, datetime

import orjson
from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters
from drf_spectacular.utils import extend_schema
from oauth2_provider.views.mixins import OAuthLibMixin

from accounts.api.present import present_token
from accounts.api.quotas import TOKENS
from accounts.identities.actions.exchange_assertion import LIFETIME, exchange_assertion
from accounts.oauth_parameters import JWT_BEARER, OAuthParameterRefused, TokenOfAnother, clean_scope
from infra.api.endpoint import Endpoint
from infra.api.parsing import read_text
from infra.api.rendering import NO_STORE, json_response
from infra.api.request import ApiRequest

CLIENT = frozenset(("client_id", "client_secret"))


@extend_schema(exclude=True)
@method_decorator(sensitive_post_parameters(), name="dispatch")
class TokenView(OAuthLibMixin, Endpoint):
    """Issues a token for a code, a refresh token, a client secret, a password or a JWT."""

    public = True
    body_only = True
    authentication_classes = ()

    def post(self, request: ApiRequest) -> HttpResponse:
        TOKENS.charge(request._request)
        if request.data.get("grant_type") == JWT_BEARER:
            return _answer_assertion(request)
        _, headers, body, status = self.create_token_response(request)
        token = orjson.loads(body)
        if status == 200:
            token["created_at"] = int(time.time())
        elif token["error"] == "invalid_client":
            token.setdefault("error_description", "Client authentication failed")
        return json_response(orjson.dumps(token), status, {**headers, **NO_STORE})


@extend_schema(exclude=True)
@method_decorator(sensitive_post_parameters(), name="dispatch")
class RevokeView(OAuthLibMixin, Endpoint):
    """Ends a token of the calling client. For an unknown token it does nothing (RFC 7009).

    A client that does not prove itself gets the same answer as another one: TokenOfAnother.
    """

    public = True
    body_only = True
    authentication_classes = ()

    def post(self, request: ApiRequest) -> HttpResponse:
        _, _, body, status = self.create_revocation_response(request)
        if status == 401:
            raise TokenOfAnother
        return json_response(body.encode() if body else b"{}", status, NO_STORE)


def _answer_assertion(request: ApiRequest) -> HttpResponse:
    """The toolkit has no such grant. The JWT is all the proof, so there is no client to prove.

    Raises: AssertionRefused, ScopeRefused, KeysUnreadable.
    """
    if CLIENT.intersection(request.data):
        raise OAuthParameterRefused("A client does not prove itself with this grant")
    scope = clean_scope(read_text(request.data, "scope"))
    assertion = read_text(request.data, "assertion")
    token = exchange_assertion(assertion, scope, datetime.now(UTC))
    body = present_token(token) | {"expires_in": int(LIFETIME.total_seconds())}
    return json_response(orjson.dumps(body), headers=NO_STORE)
