"""The JSON of relations' requests and answers, for the OpenAPI document only."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework.serializers import (
    BooleanField,
    CharField,
    DateTimeField,
    Field,
    IntegerField,
    ListField,
    RegexField,
    Serializer,
)

from accounts.api.schema import AccountEntity
from infra.api.fields import OPTIONAL, FlagField, TextField, count_schema, ids_parameter
from infra.languages import LANGUAGE_CODE, LONGEST_LANGUAGE
from relations.actions.mute import LONGEST_MUTE_S
from relations.actions.write_note import LONGEST_NOTE
from relations.types import MOST_LANGUAGES

MOST_TARGETS, MOST_FAMILIAR_TARGETS = 100, 40
ID_LIST = ids_parameter("id[]", MOST_TARGETS)
FAMILIAR_IDS = ids_parameter("id[]", MOST_FAMILIAR_TARGETS)
_ID = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
# The header with what takes an unfollow or a mute back.
UNDO = "X-Undo"
ACCOUNT_IDS = {200: {"type": "array", "items": {"type": "string"}}}


class RelationshipEntity(Serializer[Any]):
    id = CharField()
    following = BooleanField()
    showing_reblogs = BooleanField()
    notifying = BooleanField()
    languages = ListField(
        child=CharField(), allow_null=True, help_text="null: posts of all languages are shown"
    )
    followed_by = BooleanField()
    blocking = BooleanField()
    blocked_by = BooleanField()
    muting = BooleanField()
    muting_notifications = BooleanField()
    muting_expires_at = DateTimeField(allow_null=True)
    requested = BooleanField()
    requested_by = BooleanField()
    domain_blocking = BooleanField()
    endorsed = BooleanField()
    note = CharField(allow_blank=True)
    quiet_following = BooleanField()
    special = BooleanField()
    mutual = BooleanField()


class UndoBody(Serializer[Any]):
    undo = TextField(help_text="The X-Undo of the answer")


class RelationCountsEntity(Serializer[Any]):
    followers_count = IntegerField(help_text="With quiet followers")
    quiet_followers_count = IntegerField()
    following_count = IntegerField(help_text="With quiet follows")
    quiet_following_count = IntegerField()
    blocked_count = IntegerField(
        allow_null=True, help_text="null if the token has no scope read:blocks"
    )


@extend_schema_field(
    {"anyOf": [_ID, {"type": "array", "items": _ID, "minItems": 1, "maxItems": MOST_TARGETS}]}
)
class TargetsField(Field[Any, Any, Any, Any]):
    """One account id, or several."""


class TargetsBody(Serializer[Any]):
    id = TargetsField()


class FollowOptionsBody(Serializer[Any]):
    quiet = FlagField(help_text="Only I can see this follow", **OPTIONAL)
    special = FlagField(help_text="A mark that only I can see", **OPTIONAL)
    reblogs = FlagField(help_text="Show the reposts of this account", **OPTIONAL)
    notify = FlagField(**OPTIONAL)
    languages = ListField(
        child=RegexField(f"^{LANGUAGE_CODE}$", max_length=LONGEST_LANGUAGE),
        max_length=MOST_LANGUAGES,
        help_text="Show only posts of these languages. Empty: of all",
        required=False,
    )


class NoteBody(Serializer[Any]):
    comment = TextField(max_length=LONGEST_NOTE, help_text="Empty: deletes the note", **OPTIONAL)


@extend_schema_field(count_schema(LONGEST_MUTE_S))
class SecondsField(Field[Any, Any, Any, Any]):
    """A number of seconds."""


class MuteOptionsBody(Serializer[Any]):
    duration = SecondsField(help_text="Seconds; 0: without end", **OPTIONAL)
    notifications = FlagField(**OPTIONAL)


class MutedAccountEntity(AccountEntity):
    mute_expires_at = DateTimeField(allow_null=True)


class FamiliarFollowersEntity(Serializer[Any]):
    id = CharField()
    accounts = AccountEntity(many=True)
