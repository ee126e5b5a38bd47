"""What django-oauth-toolkit is to do differently, to speak OAuth2 the way Mastodon does."""

import re
from typing import Any

from oauth2_provider.oauth2_backends import OAuthLibCore
from oauth2_provider.oauth2_validators import GRANT_TYPE_MAPPING, OAuth2Validator
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError, InvalidRequestError

from infra.api.request import ApiRequest

# Shows the code instead of sending the browser anywhere.
OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"
CODE_CHALLENGE = re.compile(r"[A-Za-z0-9._~-]{43,128}")  # RFC 7636, section 4.2
BROKEN_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


class MastodonOAuthValidator(OAuth2Validator):
    def validate_grant_type(
        self, client_id: str, grant_type: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Application.allows_grant_type decides alone; the toolkit would warn on every password."""
        return client.allows_grant_type(*GRANT_TYPE_MAPPING[grant_type])

    def validate_refresh_token(
        self, refresh_token: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """A suspended user's gives nothing; it ends with their tokens when they are restored."""
        known = super().validate_refresh_token(refresh_token, client, request, *args, **kwargs)
        return bool(known and request.user.is_active)

    def _create_authorization_code(self, request: Any, code: Any, expires: Any = None) -> Any:
        """The toolkit stores any challenge, and fails on one that its column cannot hold."""
        if request.code_challenge and not CODE_CHALLENGE.fullmatch(request.code_challenge):
            raise InvalidRequestError("Malformed code_challenge.", request=request)
        return super()._create_authorization_code(request, code, expires)

    def _save_bearer_token(
        self, token: dict[str, Any], request: Any, *args: Any, **kwargs: Any
    ) -> None:
        """The second of two requests with one refresh token must not get an empty access token.

        The toolkit hands it the first one's, which is not kept in clear.
        """
        super()._save_bearer_token(token, request, *args, **kwargs)
        if not token["access_token"]:
            raise InvalidGrantError(request=request)


class MastodonOAuthCore(OAuthLibCore):
    """Reads requests: the token endpoints take JSON bodies too, and nothing from their query.

    NUL characters, which no database text can hold, are replaced: what has one is simply not found.
    """

    def extract_body(self, request: Any) -> list[tuple[str, str]]:
        if not isinstance(request, ApiRequest):
            return super().extract_body(request)
        form = request.data.items()
        return [(k, v.replace("\x00", "\ufffd")) for k, v in form if isinstance(v, str)]

    def _get_escaped_full_path(self, request: Any) -> str:
        """Broken percent signs are quoted: oauthlib raises a bare ValueError over them."""
        if isinstance(request, ApiRequest):
            return request.path
        path = BROKEN_PERCENT.sub("%25", super()._get_escaped_full_path(request))
        return path.replace("%00", "%EF%BF%BD")
