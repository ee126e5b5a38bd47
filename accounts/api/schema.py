"""The shapes of accounts' requests and answers; only for the OpenAPI document.

They validate and render nothing. A test compares them with real answers.
"""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import (
    BooleanField,
    CharField,
    DateField,
    DateTimeField,
    DictField,
    EmailField,
    IntegerField,
    ListField,
    Serializer,
    URLField,
)

from accounts.scopes import DESCRIPTIONS

ID_LIST = OpenApiParameter("id[]", OpenApiTypes.STR, many=True, description="At most 40 ids")
LOOKUP = OpenApiParameter("acct", OpenApiTypes.STR, required=True, description="A username")


_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
_REFUSED = {
    "401": "The token is missing, unknown, ended or expired",
    "403": "The login is disabled, the account is frozen, or the scopes do not allow this",
}


def describe_refusals(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Adds the refusals of tokens to every operation that takes one."""
    content = {"application/json": {"schema": _ERROR}}
    for path in result["paths"].values():
        for operation in path.values():
            if operation.get("security"):
                refused = {s: {"description": d, "content": content} for s, d in _REFUSED.items()}
                operation["responses"] = refused | operation["responses"]
    return result


class BearerTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Bearer tokens as an OAuth2 security scheme."""

    target_class = "accounts.api.authentication.BearerToken"
    name = "oauth2"

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        """The scope that the endpoint declares. Public endpoints also work without a token."""
        view, method = auto_schema.view, auto_schema.method
        scope = getattr(view, "scopes", {}).get(method)
        needed = [{self.name: [scope] if scope else []}]
        return [*needed, {}] if getattr(view, "public", False) and method == "GET" else needed

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        token = {"tokenUrl": "/oauth/token", "scopes": DESCRIPTIONS}
        code = {"authorizationUrl": "/oauth/authorize"} | token
        return {"type": "oauth2", "flows": {"authorizationCode": code, "clientCredentials": token}}


class AccountEntity(Serializer[Any]):
    id = CharField()
    username = CharField()
    acct = CharField()
    display_name = CharField(allow_blank=True)
    locked = BooleanField()
    bot = BooleanField()
    discoverable = BooleanField()
    indexable = BooleanField()
    group = BooleanField()
    created_at = DateTimeField()
    note = CharField(allow_blank=True, help_text="HTML")
    url = URLField()
    uri = URLField()
    avatar = URLField()
    avatar_static = URLField()
    header = URLField()
    header_static = URLField()
    last_status_at = DateField(allow_null=True)
    hide_collections = BooleanField()
    noindex = BooleanField()
    emojis = ListField()
    roles = ListField()
    fields = ListField()  # type: ignore[assignment]
    followers_count = IntegerField()
    following_count = IntegerField()
    statuses_count = IntegerField()


class CredentialAccountEntity(AccountEntity):
    source = DictField(help_text="For the owner only")  # type: ignore[assignment]


class NewAccountBody(Serializer[Any]):
    username = CharField()
    email = EmailField()
    password = CharField()
    agreement = BooleanField()


class ProfileEditBody(Serializer[Any]):
    display_name = CharField(required=False)
    note = CharField(required=False)
    locked = BooleanField(required=False, help_text="Only false: follows need no approval")
    bot = BooleanField(required=False)


class TokenEntity(Serializer[Any]):
    access_token = CharField()
    token_type = CharField()
    scope = CharField()
    created_at = IntegerField(help_text="Unix seconds")


class NewApplicationBody(Serializer[Any]):
    client_name = CharField()
    redirect_uris = CharField(help_text="One or more, separated by line breaks")
    scopes = CharField(required=False)
    website = CharField(required=False)


class ApplicationEntity(Serializer[Any]):
    id = CharField()
    name = CharField()
    website = CharField(allow_null=True)
    scopes = ListField(child=CharField())
    redirect_uri = CharField()
    redirect_uris = ListField(child=CharField())
    vapid_key = CharField(allow_blank=True)


class CredentialApplicationEntity(ApplicationEntity):
    client_id = CharField()
    client_secret = CharField()
    client_secret_expires_at = IntegerField()


class InstanceEntity(Serializer[Any]):
    uri = CharField()
    title = CharField()
    short_description = CharField()
    description = CharField()
    email = CharField(allow_blank=True)
    version = CharField()
    urls = DictField()
    stats = DictField(child=IntegerField())
    thumbnail = URLField()
    languages = ListField(child=CharField())
    registrations = BooleanField()
    approval_required = BooleanField()
    invites_enabled = BooleanField()
    configuration = DictField()
    contact_account = DictField(allow_null=True)
    rules = ListField()


class InstanceV2Entity(Serializer[Any]):
    domain = CharField()
    title = CharField()
    version = CharField()
    source_url = CharField(allow_blank=True)
    description = CharField()
    usage = DictField()
    thumbnail = DictField()
    icon = ListField()
    languages = ListField(child=CharField())
    configuration = DictField()
    registrations = DictField()
    api_versions = DictField(child=IntegerField())
    contact = DictField()
    rules = ListField()
