"""The requests and answers of scheduled posts, for the OpenAPI document only."""

from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    DateTimeField,
    DictField,
    IntegerField,
    ListField,
    Serializer,
)

from posts.scheduled.api.parse import LONGEST_TIME

TIME_HELP = "ISO 8601, of UTC if it has no zone. At least 5 minutes from now"


class ScheduledParamsEntity(Serializer[Any]):
    text = CharField(allow_blank=True)
    poll = DictField(allow_null=True)
    media_ids = ListField(child=CharField(), allow_null=True)
    sensitive = BooleanField()
    spoiler_text = CharField(allow_null=True)
    visibility = CharField()
    in_reply_to_id = CharField(allow_null=True)
    language = CharField(allow_null=True)
    quoted_status_id = CharField(allow_null=True)
    quote_approval_policy = CharField()
    reply_approval_policy = CharField()
    type = CharField()
    custom = DictField(allow_null=True)
    application_id = IntegerField(allow_null=True)
    scheduled_at = DateTimeField(allow_null=True, help_text="Always null")
    idempotency = CharField(allow_null=True, help_text="The Idempotency-Key of the request")
    with_rate_limit = BooleanField(help_text="Always false")


class ScheduledStatusEntity(Serializer[Any]):
    id = CharField()
    scheduled_at = DateTimeField()
    params = ScheduledParamsEntity()
    media_attachments = ListField(child=DictField())
    error = CharField(
        allow_null=True,
        help_text="Why it could not be published. It waits until I change its time, or cancel it",
    )


class ScheduleBody(Serializer[Any]):
    scheduled_at = CharField(max_length=LONGEST_TIME, help_text=TIME_HELP)
