"""The requests and answers of posts, for the OpenAPI document only."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema_serializer
from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    DictField,
    IntegerField,
    ListField,
    Serializer,
    URLField,
)

from accounts.api.schema import AccountEntity
from infra.api.fields import OPTIONAL, FlagField, TextField, VisibleTextField
from infra.api.openapi import error_response
from posts.actions.check_draft import MAX_KEY_LENGTH, MAX_LANGUAGE_LENGTH

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "maxLength": MAX_KEY_LENGTH},
    OpenApiParameter.HEADER,
    description="A repeated key returns the post of the first request",
)
NO_PARENT = error_response("The post to reply to does not exist, or the caller may not see it")


@extend_schema_serializer(component_name="NewStatus")
class StatusBody(Serializer[Any]):
    status = VisibleTextField(max_length=settings.POST_MAX_CHARACTERS, help_text="The text")
    sensitive = FlagField(**OPTIONAL)
    spoiler_text = TextField(
        max_length=settings.POST_MAX_CHARACTERS,
        help_text="The limit is for the text and the spoiler together",
        **OPTIONAL,
    )
    language = TextField(max_length=MAX_LANGUAGE_LENGTH, **OPTIONAL)
    visibility = ChoiceField(["public"], allow_blank=True, **OPTIONAL)
    in_reply_to_id = CharField(
        help_text="The id of the post to answer", allow_blank=True, **OPTIONAL
    )


class RepostBody(Serializer[Any]):
    visibility = ChoiceField(["public"], allow_blank=True, **OPTIONAL)


class StatusEntity(Serializer[Any]):
    id = CharField(help_text="Decimal digits; a later post has a higher number")
    created_at = DateTimeField()
    in_reply_to_id = CharField(allow_null=True)
    in_reply_to_account_id = CharField(allow_null=True)
    sensitive = BooleanField()
    spoiler_text = CharField(allow_blank=True)
    visibility = CharField()
    language = CharField(allow_null=True)
    uri = URLField()
    url = URLField()
    content = CharField(help_text="HTML")
    reblog = DictField(
        allow_null=True, help_text="The whole original post; null unless this is a repost"
    )
    application = DictField(allow_null=True)
    media_attachments = ListField(child=DictField())
    mentions = ListField(child=DictField())
    tags = ListField(child=DictField())
    emojis = ListField(child=DictField())
    card = DictField(allow_null=True)
    poll = DictField(allow_null=True)
    edited_at = DateTimeField(allow_null=True)
    filtered = ListField(child=DictField())
    account = AccountEntity()
    replies_count = IntegerField()
    reblogs_count = IntegerField()
    favourites_count = IntegerField()
    favourited = BooleanField()
    reblogged = BooleanField()
    muted = BooleanField()
    bookmarked = BooleanField()


class HomeStatusEntity(StatusEntity):
    reblogged_by = AccountEntity(
        many=True, required=False, help_text="The followees who reposted the post; only for reposts"
    )


class DeletedStatusEntity(StatusEntity):
    text = CharField(help_text="The text as its author typed it")


class ContextEntity(Serializer[Any]):
    ancestors = StatusEntity(many=True, help_text="The posts that it answers, the root first")
    descendants = StatusEntity(many=True, help_text="Its replies, each after the post it answers")
