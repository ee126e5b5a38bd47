"""What acts take, and what own lists answer, for the OpenAPI schema only."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import (
    BooleanField,
    CharField,
    DateTimeField,
    IntegerField,
    Serializer,
)

from accounts.api.schema import AccountEntity

MOST_FAMILIAR_TARGETS = 40
FAMILIAR_IDS = OpenApiParameter(
    "id[]", OpenApiTypes.STR, many=True, description=f"At most {MOST_FAMILIAR_TARGETS} account ids"
)


class FollowOptionsBody(Serializer[Any]):
    quiet = BooleanField(required=False, help_text="Nobody else learns of the follow")
    special = BooleanField(required=False, help_text="A mark that nobody else sees")
    reblogs = BooleanField(required=False, help_text="Show what they repost")
    notify = BooleanField(required=False)


class MuteOptionsBody(Serializer[Any]):
    duration = IntegerField(required=False, min_value=0, help_text="Seconds; 0: without end")
    notifications = BooleanField(required=False, default=True)


class MutedAccountEntity(AccountEntity):
    mute_expires_at = DateTimeField(allow_null=True)


class FamiliarFollowersEntity(Serializer[Any]):
    id = CharField()
    accounts = AccountEntity(many=True)
