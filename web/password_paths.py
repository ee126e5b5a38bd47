"""Which requests bring a password, whose hash is slow on purpose."""

from django.conf import settings

from web.paths import without_slash

_PATHS = frozenset(
    (
        "/api/v1/accounts",
        "/auth/oidc",
        "/auth/sign_in",
        "/auth/sign_up",
        "/settings/delete",
        "/settings/email",
        "/settings/password",
    )
)
# A link of a mail, with which a person chooses a new password.
_LINKS = "/auth/password/"
# With the password grant only. A code or a refresh token needs no slow hash.
_GRANT = "/oauth/token"


def may_bring_password(path: str) -> bool:
    """Whether the body of a POST with this path may have a password."""
    path = without_slash(path)
    if path == _GRANT:
        return bool(settings.ALLOW_PASSWORD_GRANT)
    return path in _PATHS or path.startswith(_LINKS)
