"""The shapes of relations' answers, for the OpenAPI schema only."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import BooleanField, CharField, DateTimeField, ListField, Serializer

ID_LIST = OpenApiParameter(
    "id[]", OpenApiTypes.STR, many=True, required=True, description="At most 100 account ids"
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
