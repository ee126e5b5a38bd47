"""The requests and answers of integrations, for the OpenAPI document only."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    DictField,
    IntegerField,
    ListField,
    RegexField,
    Serializer,
)

from accounts.actions.register_application import URI_LENGTH
from accounts.actions.update_profile import NOTE_LENGTH
from accounts.models import DISPLAY_NAME_LENGTH, LONGEST_OBJECT_KIND
from accounts.queries.object_kinds import OBJECT_KIND_PATTERN
from infra.api.fields import OPTIONAL, FlagField, VisibleTextField
from infra.api.parsing import LIMIT_DIGITS
from integrations.events import TYPES
from integrations.positions import MOST_CHARACTERS
from posts.queries.post_types import TYPE_PATTERN
from posts.queries.reactions import REACTION_PATTERN
from posts.types import LONGEST_REACTION, LONGEST_TYPE

AFTER = OpenApiParameter(
    "after",
    {"type": "string", "maxLength": MOST_CHARACTERS, "pattern": "^([A-Za-z0-9_-]*)$"},
    description=(
        "The position of the page before. `oldest`: from the oldest whole day on."
        " Absent: no events, and the position of now"
    ),
)
DEFAULT_LIMIT, MOST_EVENTS, MOST_BULK_EVENTS = 100, 1_000, 10_000
LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 0, "maximum": 10**LIMIT_DIGITS - 1},
    description=(
        f"Read so many changes, {DEFAULT_LIMIT} by default, {MOST_EVENTS:,} at most;"
        f" {MOST_BULK_EVENTS:,} for a bulk service"
    ),
)


MOST_PAIRS = 1_000
MOST_IDS = 1_000
MOST_WANTED = 100
MOST_MUTUALS = 1_000
ACCOUNT_ID = r"^[1-9][0-9]{0,8}$"


class PairField(Serializer[Any]):
    account_id = RegexField(ACCOUNT_ID)
    target_id = RegexField(ACCOUNT_ID)


class PairsBody(Serializer[Any]):
    pairs = ListField(child=PairField(), min_length=1, max_length=MOST_PAIRS)


class RelationEntity(Serializer[Any]):
    """What `account_id` does to `target_id`."""

    account_id = CharField()
    target_id = CharField()
    following = BooleanField()
    requested = BooleanField(help_text="A follow that awaits approval")
    blocking = BooleanField()
    since_ms = IntegerField(allow_null=True, help_text="When that began or ended")


class MutualField(Serializer[Any]):
    account_id = CharField()
    since_ms = IntegerField(help_text="Since when both follow")


class MutualsEntity(Serializer[Any]):
    count = IntegerField(help_text="Of all, not of the page")
    mutuals = ListField(child=MutualField())


EXTERNAL_ID_PATTERN = r"^[!-\-0-~][!-.0-~]{0,254}$"
EXTERNAL_ID = OpenApiParameter(
    "external_id",
    {"type": "string", "pattern": EXTERNAL_ID_PATTERN},
    OpenApiParameter.PATH,
    description="The id that your product has for this person",
)


class WantedAccountBody(Serializer[Any]):
    username = RegexField(
        r"^[A-Za-z0-9_]{1,30}$", required=False, help_text="A new account needs it"
    )
    display_name = CharField(required=False, allow_blank=True, max_length=DISPLAY_NAME_LENGTH)
    note = CharField(required=False, allow_blank=True, max_length=NOTE_LENGTH)
    locked = BooleanField(required=False)
    bot = BooleanField(required=False)
    discoverable = BooleanField(required=False)
    indexable = BooleanField(required=False)
    hide_collections = BooleanField(required=False)
    active = BooleanField(
        required=False,
        help_text=(
            "False, without other fields: no account sees it and it cannot sign in, until it is"
            " true. 404 if it was never created"
        ),
    )


class WantedAccountField(WantedAccountBody):
    external_id = RegexField(EXTERNAL_ID_PATTERN)


class WantedAccountsBody(Serializer[Any]):
    accounts = ListField(child=WantedAccountField(), min_length=1, max_length=MOST_WANTED)


class BoundAccountEntity(Serializer[Any]):
    external_id = CharField()
    account_id = CharField()
    username = CharField()
    suspended = BooleanField(help_text="By moderators, or because it is deleted or inactive")


class ProvisionedAccountEntity(BoundAccountEntity):
    created = BooleanField(help_text="By this request")


class ProvisioningOutcomeEntity(Serializer[Any]):
    """An account of the list, or why it was refused."""

    external_id = CharField()
    status = IntegerField(help_text="As of a PUT of its own")
    account_id = CharField(required=False)
    username = CharField(required=False)
    suspended = BooleanField(required=False)
    created = BooleanField(required=False)
    error = CharField(required=False)
    details = DictField(required=False)


class ExternalIdsBody(Serializer[Any]):
    """One of the two lists."""

    external_ids = ListField(child=CharField(max_length=255), required=False, max_length=MOST_IDS)
    account_ids = ListField(child=RegexField(ACCOUNT_ID), required=False, max_length=MOST_IDS)


MOST_OBJECTS = 1_000
KIND_NAME = OpenApiParameter(
    "kind",
    {"type": "string", "pattern": f"^{OBJECT_KIND_PATTERN}$", "maxLength": LONGEST_OBJECT_KIND},
    OpenApiParameter.PATH,
    description="Such as `recipe`",
)
OBJECT_NAMES = [
    KIND_NAME,
    OpenApiParameter(
        "external_id",
        {"type": "string", "pattern": EXTERNAL_ID_PATTERN},
        OpenApiParameter.PATH,
        description="The id that your product has for this object",
    ),
]


class WantedObjectBody(Serializer[Any]):
    title = VisibleTextField(
        required=False, max_length=DISPLAY_NAME_LENGTH, help_text="A new object needs it"
    )
    username = RegexField(
        r"^[A-Za-z0-9_]{1,30}$",
        required=False,
        help_text="By which posts mention it; absent: one is made",
    )
    note = CharField(required=False, allow_blank=True, max_length=NOTE_LENGTH)
    url = CharField(required=False, allow_blank=True, max_length=URI_LENGTH)
    image = CharField(required=False, allow_blank=True, max_length=URI_LENGTH)
    custom = DictField(required=False, help_text="Your own data: at most 4 kB")
    locked = BooleanField(required=False, help_text="It approves its followers, and only they post")
    active = BooleanField(
        required=False,
        help_text="False, without other fields: no account sees it, until it is true",
    )


class WantedObjectField(WantedObjectBody):
    kind = CharField(max_length=LONGEST_OBJECT_KIND)
    external_id = RegexField(EXTERNAL_ID_PATTERN)


class WantedObjectsBody(Serializer[Any]):
    objects = ListField(child=WantedObjectField(), min_length=1, max_length=MOST_OBJECTS)


class ObjectEntity(Serializer[Any]):
    account_id = CharField()
    kind = CharField()
    external_id = CharField()
    username = CharField()
    title = CharField()
    note = CharField()
    url = CharField(allow_null=True)
    image = CharField(allow_null=True)
    custom = DictField(allow_null=True)
    locked = BooleanField()
    suspended = BooleanField(help_text="By moderators, or because it is deleted or inactive")


class ProvisionedObjectEntity(ObjectEntity):
    created = BooleanField(help_text="By this request")


class ObjectOutcomeEntity(Serializer[Any]):
    """An object of the list, or why it was refused."""

    kind = CharField()
    external_id = CharField()
    status = IntegerField(help_text="As of a PUT of its own")
    account_id = CharField(required=False)
    username = CharField(required=False)
    title = CharField(required=False)
    note = CharField(required=False)
    url = CharField(required=False, allow_null=True)
    image = CharField(required=False, allow_null=True)
    custom = DictField(required=False, allow_null=True)
    locked = BooleanField(required=False)
    suspended = BooleanField(required=False)
    created = BooleanField(required=False)
    error = CharField(required=False)
    details = DictField(required=False)


MOST_LANGUAGES, LONGEST_WORDS = 20, 100
TYPE_NAME = OpenApiParameter(
    "type_name",
    {"type": "string", "pattern": f"^{TYPE_PATTERN}$", "maxLength": LONGEST_TYPE},
    OpenApiParameter.PATH,
    description="Such as `recipe.cooked`",
)


REACTION_NAME = OpenApiParameter(
    "reaction_name",
    {"type": "string", "pattern": f"^{REACTION_PATTERN}$", "maxLength": LONGEST_REACTION},
    OpenApiParameter.PATH,
    description="Such as `cooked_it`",
)


class WordsBody(Serializer[Any]):
    words = DictField(
        child=VisibleTextField(max_length=LONGEST_WORDS),
        help_text='What it is called, by language: `{"en": "cooked"}`',
    )


class NewReactionBody(WordsBody):
    notifies = FlagField(
        help_text="Whether the author of the post is notified; the default is yes", **OPTIONAL
    )


class PostTypeEntity(Serializer[Any]):
    name = CharField()
    words = DictField(child=CharField())


class DeclaredKindEntity(PostTypeEntity):
    pass


class EventEntity(Serializer[Any]):
    id = CharField(help_text="The same each time the event is read")
    type = ChoiceField(TYPES)
    timestamp = DateTimeField(help_text="When it happened")

    def get_fields(self) -> dict[str, Any]:
        """`data` is a property of the class in DRF."""
        text = "The ids, and for relations and marks their present state"
        return super().get_fields() | {"data": DictField(help_text=text)}


class EventsEntity(Serializer[Any]):
    events = ListField(child=EventEntity())
    position = CharField(help_text="For `after` of the next page; keep it once the events are done")
    has_more = BooleanField(help_text="There are more events already")
    missing = ListField(
        child=CharField(), help_text="Databases that did not answer; their events come later"
    )
