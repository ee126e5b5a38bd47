"""The JSON of relations' requests and answers, for the OpenAPI document only."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import (
    BooleanField,
    CharField,
    DateTimeField,
    IntegerField,
    ListField,
    Serializer,
)

from accounts.api.schema import AccountEntity

MOST_FAMILIAR_TARGETS = 40
ID_LIST = OpenApiParameter(
    "id[]", OpenApiTypes.STR, many=True, required=True, description="At most 100 account ids"
)
FAMILIAR_IDS = OpenApiParameter(
    "id[]", OpenApiTypes.STR, many=True, description=f"At most {MOST_FAMILIAR_TARGETS} account ids"
)
ACCOUNT_IDS = {200: {"type": "array", "items": {"type": "string"}}}


class RelationshipEntity(Serializer[Any]):
    id = CharField()
    following = BooleanField()
    showing_reblogs = BooleanField()
    notifying = BooleanField()
    languages = ListField(child=CharField(), allow_null=True)
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


class TargetsBody(Serializer[Any]):
    id = ListField(child=CharField(), max_length=100)


class FollowOptionsBody(Serializer[Any]):
    quiet = BooleanField(required=False, help_text="Only I can see this follow")
    special = BooleanField(required=False, help_text="A mark that only I can see")
    reblogs = BooleanField(required=False, help_text="Show the reposts of this account")
    notify = BooleanField(required=False)


class MuteOptionsBody(Serializer[Any]):
    duration = IntegerField(required=False, min_value=0, help_text="Seconds; 0: without end")
    notifications = BooleanField(required=False, default=True)


class MutedAccountEntity(AccountEntity):
    mute_expires_at = DateTimeField(allow_null=True)


class FamiliarFollowersEntity(Serializer[Any]):
    id = CharField()
    accounts = AccountEntity(many=True)
