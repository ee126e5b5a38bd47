"""The requests and answers of markers, for the OpenAPI document only."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    extend_schema_field,
    extend_schema_serializer,
)
from rest_framework.serializers import (
    BooleanField,
    CharField,
    DateTimeField,
    Field,
    IntegerField,
    Serializer,
)

from infra.api.fields import OPTIONAL, FlagField, count_schema
from infra.api.ids import MOST_DIGITS
from infra.api.openapi import error_response
from posts.ids import BASE36_DIGITS
from timelines.catch_up.count import MOST_COUNTED
from timelines.markers.api.parse import MOST_VERSION, NOTIFICATION_ID

WHICH = OpenApiParameter(
    "timeline[]",
    OpenApiTypes.STR,
    many=True,
    description="Which markers to return: home, notifications. Other names are ignored",
)


STATUS_ID = f"^([0-9]{{1,{MOST_DIGITS}}}|[0-9a-z]{{{BASE36_DIGITS}}})$"


@extend_schema_serializer(component_name="MarkerEntity")
class MarkerEntity(Serializer[Any]):
    last_read_id = CharField(help_text="The newest status or notification that was read")
    version = IntegerField(help_text="Grows with every write")
    updated_at = DateTimeField()


@extend_schema_serializer(component_name="HomeMarker")
class HomeMarkerEntity(MarkerEntity):
    """GET has the unread fields, unless a shard that they need does not answer; POST lacks them."""

    unread_count = IntegerField(
        required=False, help_text=f"Unread home entries of others, at most {MOST_COUNTED}"
    )
    unread_is_more = BooleanField(
        required=False, help_text="There are more than unread_count: show it with a plus"
    )


class MarkersEntity(Serializer[Any]):
    """Markers that were never set are absent."""

    home = HomeMarkerEntity(required=False)
    notifications = MarkerEntity(required=False)


def _id_schema(pattern: str) -> dict[str, Any]:
    """An id as text or as a number."""
    return {"anyOf": [{"type": "string", "pattern": pattern}, {"type": "integer", "minimum": 0}]}


@extend_schema_field(_id_schema(STATUS_ID))
class StatusIdField(Field[Any, Any, Any, Any]):
    """A status id as text or number."""


@extend_schema_field(_id_schema(f"^{NOTIFICATION_ID.pattern}$"))
class NotificationIdField(Field[Any, Any, Any, Any]):
    """A notification id as text or number."""


@extend_schema_field(count_schema(MOST_VERSION))
class VersionField(Field[Any, Any, Any, Any]):
    """The version of a marker."""


class NewMarkerBody(Serializer[Any]):
    version = VersionField(
        help_text="The version after this write. 409 unless it is above the marker's version."
        " Repeating a write is no conflict. Default: the next version, without a check",
        **OPTIONAL,
    )
    forward_only = FlagField(
        help_text="A marker that is further already stays. By default it may go back",
        **OPTIONAL,
    )


class NewHomeMarkerBody(NewMarkerBody):
    last_read_id = StatusIdField(help_text="The status may be deleted")


class NewNotificationMarkerBody(NewMarkerBody):
    last_read_id = NotificationIdField()


class NewMarkersBody(Serializer[Any]):
    home = NewHomeMarkerBody(required=False)
    notifications = NewNotificationMarkerBody(required=False)


CONFLICT = error_response("The sent version is not above the marker's version")
