"""Settings of the API and of OAuth2 that do not depend on the environment."""

from infra.version import VERSION

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.api.authentication.BearerToken"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["infra.api.rendering.OrjsonRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "infra.api.parsing.JsonParser",
        "rest_framework.parsers.FormParser",
        "infra.api.parsing.WholeMultiPartParser",
    ],
    "DEFAULT_SCHEMA_CLASS": "infra.api.openapi.ApiSchema",
    "EXCEPTION_HANDLER": "infra.api.answers.answer_error",
    "UNAUTHENTICATED_USER": None,
}
# The quotas that every request of the API counts towards.
REQUEST_METERS = ["accounts.api.quotas.CallerQuotas"]
SPECTACULAR_SETTINGS = {
    "TITLE": "Tideline",
    "DESCRIPTION": "A social feed backend in the shape of the Mastodon client API.",
    "VERSION": VERSION,
    "SCHEMA_PATH_PREFIX": "/api/v[0-9]",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "infra.api.openapi.describe_forms",
        "infra.api.openapi.put_discovery_last",
    ],
    # Fields of the same name with other values need names of their own.
    "ENUM_NAME_OVERRIDES": {
        "PrivacyEnum": ["public", "unlisted", "private"],
        "QuotePolicyEnum": ["public", "followers", "nobody"],
        "HomeRepliesEnum": ["followed", "all", "none"],
        "NotificationMeasureEnum": ["accept", "filter", "drop"],
        "NotificationTypeEnum": "notifications.api.schema.TYPES",
        "PromotionTypeEnum": "timelines.promotions.models.KINDS",
        "ImageTypeEnum": ["image"],
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}
OAUTH2_PROVIDER_APPLICATION_MODEL = "accounts.Application"
OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL = "accounts.AccessToken"  # noqa: S105
OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL = "accounts.RefreshToken"  # noqa: S105
OAUTH2_PROVIDER_ID_TOKEN_MODEL = "accounts.IDToken"  # noqa: S105


def oauth2_provider(has_password_grant: bool, public_url: str) -> dict[str, object]:
    """The settings of OAuth2, compatible with Mastodon. `public_url`: the issuer (RFC 9207)."""
    return {
        "OIDC_ISS_ENDPOINT": public_url,
        "SCOPES_BACKEND_CLASS": "accounts.scopes.MastodonScopes",
        "OAUTH2_VALIDATOR_CLASS": "accounts.oauth.MastodonOAuthValidator",
        "OAUTH2_SERVER_CLASS": "accounts.oauth.MastodonOAuthServer",
        "OAUTH2_BACKEND_CLASS": "accounts.oauth.MastodonOAuthCore",
        "ACCESS_TOKEN_GENERATOR": "accounts.token_tags.generate_token",
        "REFRESH_TOKEN_GENERATOR": "accounts.token_tags.generate_unnamed_token",
        "CLIENT_SECRET_HASHER": "random_secret",
        "PKCE_REQUIRED": False,
        "ACCESS_TOKEN_EXPIRE_SECONDS": 365 * 24 * 3600,
        "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https", "urn"],
        "REQUEST_APPROVAL_PROMPT": "auto",
        "REFRESH_TOKEN_REUSE_PROTECTION": True,
        "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
        "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": not has_password_grant,
        "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
        "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
        "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
        "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    }
