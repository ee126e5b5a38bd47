"""Changes to django-oauth-toolkit: OAuth2 as Mastodon speaks it, and cheap client secrets."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from oauth2_provider.models import (
    get_access_token_model,
    get_grant_model,
    get_refresh_token_model,
)
from oauth2_provider.oauth2_backends import OAuthLibCore
from oauth2_provider.oauth2_validators import GRANT_TYPE_MAPPING, OAuth2Validator
from oauthlib.oauth2 import Server
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError

from accounts.actions.lock_user import lock_user
from accounts.actions.tokens import end_oldest_tokens
from accounts.oauth_parameters import TokenOfAnother, read_parameters
from accounts.second_step.queries import has_second_step
from infra.api.request import ApiRequest

# A redirect address that makes the page show the code instead of redirecting.
OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"


class RandomSecretHasher(PBKDF2PasswordHasher):
    """For client secrets. They are 128 random characters, so a slow hash would protect nothing.

    With the password hasher every token request would cost half a second of CPU.
    """

    algorithm = "random_secret"
    iterations = 1


class MastodonOAuthValidator(OAuth2Validator):
    def validate_grant_type(
        self, client_id: str, grant_type: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """As Application.allows_grant_type says. The toolkit would warn at each password."""
        return client.allows_grant_type(*GRANT_TYPE_MAPPING[grant_type])

    def validate_user(
        self, username: str, password: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Refuses people with a second step: the grant for passwords cannot ask for it."""
        known = super().validate_user(username, password, client, request, *args, **kwargs)
        return bool(known and not has_second_step(request.user.pk))

    def validate_refresh_token(
        self, refresh_token: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Refuses refresh tokens of suspended users; they end when the suspension is lifted."""
        known = super().validate_refresh_token(refresh_token, client, request, *args, **kwargs)
        return bool(known and request.user.is_active)

    def save_bearer_token(
        self, token: dict[str, Any], request: Any, *args: Any, **kwargs: Any
    ) -> None:
        """Stores the tokens in one transaction, which also uses up the code.

        Of several requests with one code, one stores its tokens, and the next one ends them.
        """
        try:
            super().save_bearer_token(token, request, *args, **kwargs)
        except CodeUsed:
            end_tokens_of_code(request.code, request.client)
            raise

    def _save_bearer_token(
        self, token: dict[str, Any], request: Any, *args: Any, **kwargs: Any
    ) -> None:
        """Under the user's lock, which a new password needs too. Raises: InvalidGrantError if what
        the request proved holds no more.
        """
        if request.grant_type == "client_credentials":
            super()._save_bearer_token(token, request, *args, **kwargs)
            return
        if lock_user(request.user.pk).password != request.user.password:
            raise InvalidGrantError(request=request)
        use_grant(request)
        super()._save_bearer_token(token, request, *args, **kwargs)
        end_oldest_tokens(request.user.pk)

    def _create_refresh_token(
        self, request: Any, refresh_token_code: str, access_token: Any, previous_refresh_token: Any
    ) -> Any:
        """The tokens of a code are the family of the code, also after they were refreshed."""
        refresh_token = super()._create_refresh_token(
            request, refresh_token_code, access_token, previous_refresh_token
        )
        if request.grant_type == "authorization_code":
            refresh_token.token_family = family_of(request.code)
            refresh_token.save(update_fields=["token_family"])
        return refresh_token

    def validate_code(
        self, client_id: str, code: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """False for a used code, which also ends the tokens issued for it (RFC 6749, 4.1.2)."""
        is_valid = super().validate_code(client_id, code, client, request, *args, **kwargs)
        if not is_valid:
            end_tokens_of_code(code, client)
        return bool(is_valid)

    def revoke_token(
        self, token: str, token_type_hint: str, request: Any, *args: Any, **kwargs: Any
    ) -> None:
        """Raises: TokenOfAnother, as in Mastodon; the toolkit would answer as to an unknown one."""
        super().revoke_token(token, token_type_hint, request, *args, **kwargs)
        same = {"token_checksum": sha256(token.encode()).hexdigest()}
        rows = get_access_token_model().objects.filter(**same), _live_refresh_tokens(**same)
        if any(model.exclude(application=request.client).exists() for model in rows):
            raise TokenOfAnother

    def get_code_challenge(self, code: str, request: Any) -> Any:
        with answering_used_code(code, request):
            return super().get_code_challenge(code, request)

    def get_code_challenge_method(self, code: str, request: Any) -> Any:
        with answering_used_code(code, request):
            return super().get_code_challenge_method(code, request)

    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: Any, request: Any, *args: Any
    ) -> Any:
        with answering_used_code(code, request):
            return super().confirm_redirect_uri(client_id, code, redirect_uri, client, request)

    def invalidate_authorization_code(
        self, client_id: str, code: str, request: Any, *args: Any, **kwargs: Any
    ) -> None:
        """Nothing: `save_bearer_token` has used up the code."""


class CodeUsed(InvalidGrantError):
    """Another request has used the code, or it has ended with the user's password."""


@contextmanager
def answering_used_code(code: str, request: Any) -> Iterator[None]:
    """The toolkit reads a code several times, and another request may use it up in between.

    Then the tokens issued for it end. Raises: CodeUsed, for which the toolkit would answer 500.
    """
    try:
        yield
    except get_grant_model().DoesNotExist:
        end_tokens_of_code(code, request.client)
        raise CodeUsed(request=request) from None


def use_grant(request: Any) -> None:
    """Uses up the code or the refresh token of the request. Raises: CodeUsed; InvalidGrantError for
    a refresh token that was used or ended a moment ago. Call it under the user's lock.
    """
    if request.grant_type == "authorization_code":
        codes = get_grant_model().objects.filter(code=request.code, application=request.client)
        if not codes.delete()[0]:
            raise CodeUsed(request=request)
    if refresh_token := getattr(request, "refresh_token_instance", None):
        rows = get_refresh_token_model().objects.select_for_update().filter(pk=refresh_token.pk)
        if not rows.filter(revoked__isnull=True).exists():
            raise InvalidGrantError(request=request)


def family_of(code: str) -> UUID:
    """The token family of a code."""
    return UUID(bytes=sha256(code.encode()).digest()[:16])


def end_tokens_of_code(code: str, application: Any) -> None:
    """Ends the tokens that were issued to the application for this code. Nothing for other codes.

    Cost: one query by index; about five statements if there is a token.
    """
    for token in _live_refresh_tokens(application=application, token_family=family_of(code)):
        token.revoke()


def _live_refresh_tokens(**which: Any) -> Any:
    return get_refresh_token_model().objects.filter(revoked__isnull=True, **which)


class MastodonOAuthServer(Server):
    """Without the device flow: the toolkit answers its token requests with errors of its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.grant_types[DEVICE_CODE]


class MastodonOAuthCore(OAuthLibCore):
    """Reads requests. The token endpoints also accept JSON bodies, and ignore their query."""

    def extract_body(self, request: Any) -> list[tuple[str, str]]:
        """The parameters of a token request. A page reads its own form (pages/views/authorize.py).

        Raises: OAuthParameterRefused.
        """
        return read_parameters(request.data.items()) if isinstance(request, ApiRequest) else []

    def _get_escaped_full_path(self, request: Any) -> str:
        """Encoded again from the values that Django read: oauthlib refuses much by a ValueError.

        The query of a page has been read by `read_query`.
        """
        if isinstance(request, ApiRequest):
            return request.path
        return f"{request.path}?{request.GET.urlencode()}"
