"""The shapes of accounts' requests and answers; only for the OpenAPI document.

They validate and render nothing. A test compares them with real answers.
"""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateField,
    DateTimeField,
    DictField,
    EmailField,
    IntegerField,
    ListField,
    RegexField,
    Serializer,
    URLField,
)

from accounts.actions.check_new_user import PASSWORD_LEAST, PASSWORD_LENGTH
from accounts.actions.register_application import MOST_URIS, NAME_LENGTH, URI_LENGTH
from accounts.actions.update_profile import FIELD_LENGTH, MOST_FIELDS, NOTE_LENGTH
from accounts.models import (
    DISPLAY_NAME_LENGTH,
    EMAIL_LENGTH,
    LANGUAGE_LENGTH,
    USERNAME_LENGTH,
)
from accounts.oauth_parameters import LONGEST_SCOPE
from accounts.scopes import DESCRIPTIONS
from accounts.types import HOME_REPLIES, PRIVACIES, QUOTE_POLICIES
from infra.api.fields import (
    OPTIONAL,
    FlagField,
    LanguageField,
    TextField,
    TrueField,
    VisibleTextField,
    ids_parameter,
)

MOST_ACCOUNTS = 40
SIGN_UP_LENGTHS = {"locale": LANGUAGE_LENGTH, "reason": 420}
ID_LIST = ids_parameter("id[]", MOST_ACCOUNTS)
_NAMES = "|".join(DESCRIPTIONS)
SCOPES = f"^(({_NAMES})( ({_NAMES}))*)?$"
# One address per word; the scheme may be that of a native client.
_URI = r"[a-z][a-z0-9+.-]*:[!\x22$-Z\\^-~]+"
URIS = rf"^{_URI}([ \n]{_URI}){{0,{MOST_URIS - 1}}}$"
WEBSITE = r"^(https?://[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,4})?(/[!\x22$-Z\\^-~]*)?)?$"
NOT_ONLY_DIGITS = r"^[^\x00]*[^0-9\x00][^\x00]*$"
LOOKUP = OpenApiParameter("acct", OpenApiTypes.STR, required=True, description="A username")


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


class FieldEntity(Serializer[Any]):
    name = CharField(allow_blank=True)
    value = CharField(allow_blank=True, help_text="HTML; the text as it was typed in `source`")
    verified_at = DateTimeField(allow_null=True)


class ServiceObjectEntity(Serializer[Any]):
    kind = CharField(help_text="Such as recipe")
    external_id = CharField(help_text="The service's own id")
    url = CharField(allow_null=True)
    image = CharField(allow_null=True)
    custom = DictField(required=False, help_text="The service's own data")


class AccountEntity(Serializer[Any]):
    limited = BooleanField(required=False, help_text="Moderators show it to its followers only")
    id = CharField()
    username = CharField()
    acct = CharField()
    display_name = CharField(allow_blank=True)
    locked = BooleanField()
    bot = BooleanField()
    discoverable = BooleanField()
    indexable = BooleanField()
    group = BooleanField(help_text="It is an object of a service")
    object = ServiceObjectEntity(required=False, help_text="Only of an object")
    created_at = DateTimeField()
    note = CharField(allow_blank=True, help_text="HTML")
    url = URLField()
    uri = URLField()
    avatar = URLField()
    avatar_static = URLField()
    header = URLField()
    header_static = URLField()
    hide_collections = BooleanField()
    noindex = BooleanField()
    emojis = ListField()
    roles = ListField()
    # Not required, as in Mastodon: what was cached before an upgrade lacks them for a day.
    suspended = BooleanField(required=False, help_text="Never: an account that is suspended is 404")
    memorial = BooleanField(required=False, help_text="Never")
    moved = DictField(
        required=False,
        allow_null=True,
        help_text="Always null: accounts do not move to other sites",
    )
    fields = ListField(child=FieldEntity())  # type: ignore[assignment]
    followers_count = IntegerField()
    following_count = IntegerField()
    statuses_count = IntegerField()
    last_status_at = DateField(allow_null=True)


class SourceEntity(Serializer[Any]):
    privacy = ChoiceField(PRIVACIES)
    sensitive = BooleanField()
    language = CharField(allow_null=True)
    quote_policy = ChoiceField(QUOTE_POLICIES)
    home_replies = ChoiceField(HOME_REPLIES)
    note = CharField(allow_blank=True, help_text="As it was typed")
    fields = ListField(child=FieldEntity())  # type: ignore[assignment]
    follow_requests_count = IntegerField()
    attribution_domains = ListField()
    hide_collections = BooleanField()
    discoverable = BooleanField()
    indexable = BooleanField()


class RoleEntity(Serializer[Any]):
    id = CharField()
    name = CharField(allow_blank=True)
    color = CharField(allow_blank=True)
    permissions = CharField()
    highlighted = BooleanField()


class CredentialAccountEntity(AccountEntity):
    source = SourceEntity(help_text="For the owner only")  # type: ignore[assignment]
    role = RoleEntity()


PreferencesEntity = inline_serializer(
    "PreferencesEntity",
    {
        "posting:default:visibility": ChoiceField(PRIVACIES),
        "posting:default:sensitive": BooleanField(),
        "posting:default:language": CharField(allow_null=True),
        "posting:default:quote_policy": ChoiceField(QUOTE_POLICIES),
        "reading:expand:media": CharField(),
        "reading:expand:spoilers": BooleanField(),
        "reading:autoplay:gifs": BooleanField(),
        "reading:home:replies": ChoiceField(HOME_REPLIES),
    },
)


class NewAccountBody(Serializer[Any]):
    username = RegexField(r"^[A-Za-z0-9_]+$", max_length=USERNAME_LENGTH)
    email = EmailField(max_length=EMAIL_LENGTH)
    password = RegexField(NOT_ONLY_DIGITS, min_length=PASSWORD_LEAST, max_length=PASSWORD_LENGTH)
    agreement = TrueField()
    locale = TextField(
        max_length=SIGN_UP_LENGTHS["locale"],
        help_text="The language of pages and mails; that of the site if they do not speak it",
        **OPTIONAL,
    )
    reason = TextField(
        max_length=SIGN_UP_LENGTHS["reason"],
        help_text="Not needed: no one approves sign-ups",
        **OPTIONAL,
    )


class NewFieldBody(Serializer[Any]):
    name = VisibleTextField(max_length=FIELD_LENGTH)
    value = TextField(max_length=FIELD_LENGTH, **OPTIONAL)


class SourceEditBody(Serializer[Any]):
    privacy = ChoiceField(PRIVACIES, **OPTIONAL)
    sensitive = FlagField(**OPTIONAL)
    language = LanguageField(**OPTIONAL)
    quote_policy = ChoiceField(QUOTE_POLICIES, **OPTIONAL)
    home_replies = ChoiceField(
        HOME_REPLIES, help_text="Whose replies by followees my home timeline shows", **OPTIONAL
    )


class ProfileEditBody(Serializer[Any]):
    display_name = TextField(max_length=DISPLAY_NAME_LENGTH, **OPTIONAL)
    note = TextField(max_length=NOTE_LENGTH, **OPTIONAL)
    locked = FlagField(help_text="Follows need my approval", **OPTIONAL)
    bot = FlagField(**OPTIONAL)
    discoverable = FlagField(help_text="Suggestions and the directory may name me", **OPTIONAL)
    indexable = FlagField(help_text="Searches may find my posts", **OPTIONAL)
    hide_collections = FlagField(
        help_text="Others see neither my followers nor my followees", **OPTIONAL
    )
    fields_attributes = ListField(
        child=NewFieldBody(), max_length=MOST_FIELDS, help_text="All fields, in order", **OPTIONAL
    )
    source = SourceEditBody(**OPTIONAL)  # type: ignore[assignment]


class TokenEntity(Serializer[Any]):
    access_token = CharField()
    token_type = CharField()
    scope = CharField()
    created_at = IntegerField(help_text="Unix seconds")


class NewApplicationBody(Serializer[Any]):
    client_name = VisibleTextField(max_length=NAME_LENGTH)
    redirect_uris = RegexField(
        URIS,
        max_length=MOST_URIS * (URI_LENGTH + 1),
        help_text="One or more, separated by blanks; or a list",
    )
    scopes = RegexField(SCOPES, max_length=LONGEST_SCOPE, **OPTIONAL)
    website = RegexField(WEBSITE, max_length=URI_LENGTH, **OPTIONAL)


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


class LanguageEntity(Serializer[Any]):
    code = CharField()
    name = CharField()


class RuleEntity(Serializer[Any]):
    id = CharField()
    text = CharField()
    hint = CharField(allow_blank=True)
    translations = DictField(required=False, help_text="`text` and `hint` by language")


class ExtendedDescriptionEntity(Serializer[Any]):
    updated_at = DateTimeField(allow_null=True)
    content = CharField(allow_blank=True)
