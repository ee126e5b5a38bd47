"""The requests and answers of posts, for the OpenAPI document only."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema_field, extend_schema_serializer
from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    DictField,
    Field,
    IntegerField,
    ListField,
    RegexField,
    Serializer,
    URLField,
)

from accounts.api.schema import AccountEntity
from accounts.images.api.schema import ImageTextBody
from accounts.images.types import MOST_OF_POST
from accounts.types import QUOTE_POLICIES
from infra.api.fields import (
    NOT_BLANK,
    OPTIONAL,
    FlagField,
    LanguageField,
    TextField,
    VisibleTextField,
    cursor_schema,
    flag_parameter,
    ids_parameter,
)
from infra.api.openapi import error_response
from infra.api.parsing import LIMIT_DIGITS
from posts.actions.check_draft import MAX_KEY_LENGTH
from posts.actions.check_own_data import MOST_SENT_BYTES
from posts.actions.check_poll import (
    FEWEST_OPTIONS,
    LONGEST_OPTION,
    LONGEST_S,
    MOST_CHOICE,
    MOST_OPTIONS,
    SHORTEST_S,
)
from posts.actions.check_reply import REPLY_POLICIES
from posts.api.quote_schema import QuoteApprovalEntity, QuoteEntity, ReplyApprovalEntity
from posts.filters.api.schema import FilterResultEntity
from posts.ids import BASE36_DIGITS
from posts.queries.post_types import TYPE_PATTERN
from posts.queries.reactions import REACTION_PATTERN
from posts.scheduled.api.parse import LONGEST_TIME
from posts.scheduled.api.schema import TIME_HELP
from posts.types import LONGEST_REACTION, LONGEST_TYPE, STATUS, Visibility

PART_OF_THREAD = [
    OpenApiParameter(
        "limit", {"type": "integer", "minimum": 0, "maximum": 10**LIMIT_DIGITS - 1},
        description="Most posts above, and most below",
    ),
    OpenApiParameter("max_id", cursor_schema(BASE36_DIGITS), description="Only answers after this"),
]  # fmt: skip
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "maxLength": MAX_KEY_LENGTH},
    OpenApiParameter.HEADER,
    description="A repeated key returns the post of the first request",
)
REACTION = OpenApiParameter(
    "reaction",
    {"type": "string", "pattern": f"^{REACTION_PATTERN}$", "maxLength": LONGEST_REACTION},
    OpenApiParameter.PATH,
    description="Such as `clap`",
)
MOST_AT_ONCE = 40
STATUS_IDS = ids_parameter("id[]", MOST_AT_ONCE, "status")
VISIBILITIES = [visibility.name.lower() for visibility in Visibility]
DELETE_MEDIA = flag_parameter(
    "delete_media",
    "Remove its images within minutes. Else they can be used in a new post for a day",
)
NO_PARENT = error_response("The post to reply to does not exist, or the caller may not see it")
POST_GONE = error_response("The post that this request published the first time was deleted")


@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "string", "maxLength": LONGEST_OPTION, "pattern": NOT_BLANK},
        "minItems": FEWEST_OPTIONS,
        "maxItems": MOST_OPTIONS,
        "uniqueItems": True,
    }
)
class PollOptionsField(Field[Any, Any, Any, Any]):
    """Texts that are all different."""


class NewPollBody(Serializer[Any]):
    options = PollOptionsField()
    expires_in = IntegerField(min_value=SHORTEST_S, max_value=LONGEST_S, help_text="Seconds")
    multiple = FlagField(**OPTIONAL)
    hide_totals = FlagField(**OPTIONAL)


@extend_schema_serializer(component_name="EditedPoll")
class EditedPollBody(Serializer[Any]):
    """Other options, or another `multiple`, reset the votes."""

    options = PollOptionsField()
    expires_in = IntegerField(
        min_value=SHORTEST_S,
        max_value=LONGEST_S,
        help_text="Seconds from now. Without it a poll keeps its end; a new poll needs it",
        **OPTIONAL,
    )
    multiple = FlagField(**OPTIONAL)
    hide_totals = FlagField(**OPTIONAL)


class TypeField(RegexField):
    def __init__(self, **options: Any) -> None:
        super().__init__(f"^({TYPE_PATTERN}|{STATUS})?$", max_length=LONGEST_TYPE, **options)


@extend_schema_field(
    {
        "anyOf": [
            {"type": "object", "additionalProperties": True},
            {"type": "string", "maxLength": MOST_SENT_BYTES, "description": "The JSON, of forms"},
        ]
    }
)
class CustomField(Field[Any, Any, Any, Any]):
    """A JSON object."""


@extend_schema_serializer(component_name="NewStatus")
class StatusBody(Serializer[Any]):
    status = VisibleTextField(
        max_length=settings.POST_MAX_CHARACTERS,
        help_text="The text. A web address counts as 23 characters. With images or a quote it may "
        "be empty",
    )
    sensitive = FlagField(**OPTIONAL)
    spoiler_text = TextField(
        max_length=settings.POST_MAX_CHARACTERS,
        help_text="The limit is for the text and the spoiler together",
        **OPTIONAL,
    )
    language = LanguageField(**OPTIONAL)
    visibility = ChoiceField(VISIBILITIES, allow_blank=True, **OPTIONAL)
    quote_approval_policy = ChoiceField(
        QUOTE_POLICIES,
        allow_blank=True,
        help_text="Who may quote it. Private posts can be quoted by their author only",
        **OPTIONAL,
    )
    reply_approval_policy = ChoiceField(
        REPLY_POLICIES,
        allow_blank=True,
        help_text="Who may reply to it, and in its thread. To a direct message all its readers may",
        **OPTIONAL,
    )
    quoted_status_id = CharField(
        help_text="The id of the post to quote", allow_blank=True, **OPTIONAL
    )
    poll = NewPollBody(**OPTIONAL)
    in_reply_to_id = CharField(
        help_text="The id of the post to answer", allow_blank=True, **OPTIONAL
    )
    media_ids = ListField(
        child=CharField(), max_length=MOST_OF_POST, help_text="Your images", **OPTIONAL
    )
    scheduled_at = CharField(
        max_length=LONGEST_TIME, help_text=TIME_HELP, allow_blank=True, **OPTIONAL
    )
    type = TypeField(help_text="`status`, or one that a service declared", **OPTIONAL)
    custom = CustomField(help_text="Given back as it is", **OPTIONAL)


class EditedImageBody(ImageTextBody):
    id = CharField()


class EditBody(Serializer[Any]):
    status = VisibleTextField(
        max_length=settings.POST_MAX_CHARACTERS,
        help_text="The new text. A web address counts as 23 characters",
    )
    sensitive = FlagField(**OPTIONAL)
    spoiler_text = TextField(max_length=settings.POST_MAX_CHARACTERS, **OPTIONAL)
    language = LanguageField(**OPTIONAL)
    media_ids = ListField(
        child=CharField(),
        max_length=MOST_OF_POST,
        help_text="All images of the post; it keeps those it has if this is absent",
        **OPTIONAL,
    )
    media_attributes = ListField(
        child=EditedImageBody(),
        max_length=MOST_OF_POST,
        help_text="For images of the post: what is not sent stays",
        **OPTIONAL,
    )
    poll = EditedPollBody(**OPTIONAL)
    quote_approval_policy = ChoiceField(
        QUOTE_POLICIES,
        allow_blank=True,
        help_text="Who may quote it, from now on. It stays as it is if this is absent",
        **OPTIONAL,
    )
    reply_approval_policy = ChoiceField(
        REPLY_POLICIES, allow_blank=True, help_text="The same of replies", **OPTIONAL
    )
    type = TypeField(help_text="As it is: it cannot be changed", **OPTIONAL)
    custom = CustomField(help_text="It stays if this is absent", **OPTIONAL)


class VersionEntity(Serializer[Any]):
    content = CharField(help_text="HTML")
    spoiler_text = CharField(allow_blank=True)
    sensitive = BooleanField()
    created_at = DateTimeField(help_text="When the author wrote this version")
    account = AccountEntity()
    poll = DictField(required=False, help_text="`options`, each with its `title`")
    media_attachments = ListField(child=DictField())
    emojis = ListField(child=DictField())


class TypedTextEntity(Serializer[Any]):
    id = CharField()
    text = CharField(help_text="The text as its author typed it")
    spoiler_text = CharField(allow_blank=True)


class RepostBody(Serializer[Any]):
    visibility = ChoiceField(
        ["public", "unlisted"],
        allow_blank=True,
        help_text="A repost of an own private post is private",
        **OPTIONAL,
    )


class PollOptionEntity(Serializer[Any]):
    title = CharField()
    votes_count = IntegerField(
        allow_null=True, help_text="null while the poll is open and hides its totals"
    )


class PollEntity(Serializer[Any]):
    id = CharField(help_text="The id of the post")
    expires_at = DateTimeField()
    expired = BooleanField()
    multiple = BooleanField()
    votes_count = IntegerField()
    voters_count = IntegerField()
    options = PollOptionEntity(many=True)
    emojis = ListField(child=DictField())
    voted = BooleanField(required=False, help_text="Absent without a token")
    own_votes = ListField(
        child=IntegerField(), required=False, help_text="Places of the chosen options, from 0"
    )


@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": MOST_CHOICE},
        "minItems": 1,
        "maxItems": MOST_OPTIONS,
        "uniqueItems": True,
    }
)
class ChoicesField(Field[Any, Any, Any, Any]):
    """Numbers that are all different."""


class VotesBody(Serializer[Any]):
    choices = ChoicesField(help_text="Places of options, from 0")


class ReactionEntity(Serializer[Any]):
    name = CharField(help_text="As a service declared it")
    count = IntegerField()
    me = BooleanField(help_text="Whether the caller reacted so")


class DeclaredReactionEntity(Serializer[Any]):
    name = CharField()
    words = DictField(child=CharField(), help_text="What it is called, by language")
    notifies = BooleanField(help_text="Whether the author of the post is notified")


class StatusEntity(Serializer[Any]):
    id = CharField(help_text="Decimal digits; a later post has a higher number")
    created_at = DateTimeField()
    conversation_id = CharField(help_text="The id of the first post of the thread")
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
    application = DictField(allow_null=True, help_text="The client that published the post")
    media_attachments = ListField(child=DictField())
    mentions = ListField(child=DictField())
    tags = ListField(child=DictField())
    emojis = ListField(child=DictField())
    card = DictField(allow_null=True)
    poll = PollEntity(allow_null=True)
    edited_at = DateTimeField(allow_null=True)
    quote = QuoteEntity(allow_null=True)
    quote_approval = QuoteApprovalEntity()
    reply_approval = ReplyApprovalEntity()
    type = CharField(required=False, help_text="Absent: `status`")
    custom = DictField(required=False, help_text="What the product added. Absent: nothing")
    filtered = FilterResultEntity(many=True)
    account = AccountEntity()
    replies_count = IntegerField()
    reblogs_count = IntegerField()
    favourites_count = IntegerField()
    quotes_count = IntegerField(help_text="Of public and unlisted posts")
    reactions = ReactionEntity(
        many=True, required=False, help_text="Besides favourites. Absent: the post has none"
    )
    favourited = BooleanField()
    reblogged = BooleanField()
    muted = BooleanField(help_text="Whether the caller muted the thread of the post")
    bookmarked = BooleanField()
    pinned = BooleanField(help_text="Whether the caller wrote and pinned the post")


class HomeStatusEntity(StatusEntity):
    reblogged_by = AccountEntity(
        many=True, required=False, help_text="The followees who reposted the post; only for reposts"
    )


class DeletedStatusEntity(StatusEntity):
    text = CharField(help_text="The text as its author typed it")


class WeekEntity(Serializer[Any]):
    week = CharField(help_text="Monday midnight UTC, in Unix seconds")
    statuses = CharField(help_text="Posts, replies and reposts that are not deleted")
    logins = CharField(help_text="Tokens of accounts that were given out and not ended since")
    registrations = CharField()


class ContextEntity(Serializer[Any]):
    ancestors = StatusEntity(many=True, help_text="The posts that it answers, the root first")
    descendants = StatusEntity(many=True, help_text="Its replies, each after the post it answers")


class TranslateBody(Serializer[Any]):
    lang = TextField(**OPTIONAL, help_text="Into which language")


class TranslatedOptionEntity(Serializer[Any]):
    title = CharField()


class TranslatedPollEntity(Serializer[Any]):
    id = CharField()
    options = TranslatedOptionEntity(many=True)


class TranslatedMediaEntity(Serializer[Any]):
    id = CharField()
    description = CharField(allow_blank=True)


class TranslationEntity(Serializer[Any]):
    content = CharField(allow_blank=True, help_text="HTML")
    spoiler_text = CharField(allow_blank=True)
    language = CharField()
    poll = TranslatedPollEntity(allow_null=True)
    media_attachments = TranslatedMediaEntity(many=True)
    detected_source_language = CharField()
    provider = CharField()


TRANSLATED_LANGUAGES = {
    "type": "object",
    "additionalProperties": {"type": "array", "items": {"type": "string"}},
}
