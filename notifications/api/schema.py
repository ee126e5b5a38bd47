"""The requests and answers of notifications, for the OpenAPI document only."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
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
)

from accounts.api.schema import AccountEntity
from infra.api.fields import OPTIONAL, FlagField, flag_parameter
from infra.api.parsing import LIMIT_DIGITS
from notifications.api.parse import EXPANSIONS, MOST_REQUESTS, MOST_UNREAD
from notifications.types import GROUPED_KINDS, KIND_BY_NAME, MEASURE_BY_NAME
from posts.api.schema import StatusEntity

TYPES = list(KIND_BY_NAME)
WARNINGS_ONLY = "Only of the type moderation_warning"
REACTIONS_ONLY = "Only of the type reaction, which Mastodon does not have"


def _names(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, many=True, description=description)


SUPPORTED_TYPES = _names(
    "supported_types[]",
    "The types that the client knows, as since Mastodon 4.6. All types here but reaction are older,"
    " and nothing has a `fallback`",
)
GROUPED_TYPES = _names(
    "grouped_types[]", f"The types to group: {', '.join(k.public for k in GROUPED_KINDS)}"
)
SELECTION = [
    _names("types[]", f"Only these: {', '.join(TYPES)}. Other names match nothing"),
    _names("exclude_types[]", "Not these. Other names match nothing"),
    OpenApiParameter(
        "account_id",
        {"type": "string", "pattern": "^([1-9][0-9]{0,8})?$"},
        description="Only notifications of this account",
    ),
    flag_parameter("include_filtered", "With those that my policy filters"),
]
GROUPING = [
    GROUPED_TYPES,
    SUPPORTED_TYPES,
    OpenApiParameter(
        "expand_accounts",
        {"type": "string", "enum": ["", *EXPANSIONS]},
        description="partial_avatars: of each group only the newest account is whole",
    ),
]
UNREAD_LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 0, "maximum": 10**LIMIT_DIGITS - 1},
    description=f"Count no further; at most {MOST_UNREAD:,}",
)
WITH_CONVERSATIONS = flag_parameter("conversations", "Count unread conversations too")


class NothingEntity(Serializer[Any]):
    """An empty object."""


@extend_schema_serializer(component_name="Appeal")
class AppealEntity(Serializer[Any]):
    text = CharField()
    state = CharField(help_text="pending, approved or rejected")


class DecisionEntity(Serializer[Any]):
    """What Strike and AccountWarning have in common. Not an entity by itself."""

    id = CharField(help_text="That of the strike, for an appeal")
    text = CharField(help_text="The moderators' reason")
    status_ids = ListField(child=CharField(), allow_null=True)
    appeal = AppealEntity(allow_null=True)
    created_at = DateTimeField()
    ends_at = DateTimeField(
        allow_null=True,
        help_text="When the restriction ends by itself, as decided then. Mastodon has no such",
    )
    target_account = AccountEntity()


class AccountWarningEntity(DecisionEntity):
    """A decision of the moderators on the account. It names no moderator and no reporter."""

    action = CharField(
        help_text="Mastodon's word: none (a warning, or a hidden photo), silence, disable, suspend,"
        " or delete_statuses (a post that was deleted or hidden)"
    )
    measure = CharField(
        help_text="The same as the action of a strike, which also knows hide_statuses and"
        " hide_images. Mastodon has no such"
    )


class NamedReactionEntity(Serializer[Any]):
    name = CharField()
    words = DictField(child=CharField(), help_text="What it is called, by language")


class NotificationEntity(Serializer[Any]):
    id = CharField(help_text="Decimal digits; a later notification has a higher number")
    type = ChoiceField(TYPES)
    group_key = CharField()
    created_at = DateTimeField()
    account = AccountEntity()
    status = StatusEntity(required=False, help_text="Absent for follows, requests and warnings")
    moderation_warning = AccountWarningEntity(required=False, help_text=WARNINGS_ONLY)
    reaction = NamedReactionEntity(required=False, help_text=REACTIONS_ONLY)


class NotificationGroupEntity(Serializer[Any]):
    group_key = CharField()
    notifications_count = IntegerField(help_text="On this page")
    type = ChoiceField(TYPES)
    most_recent_notification_id = IntegerField()
    page_min_id = CharField()
    page_max_id = CharField()
    latest_page_notification_at = DateTimeField()
    sample_account_ids = ListField(child=CharField())
    status_id = CharField(required=False)
    moderation_warning = AccountWarningEntity(required=False, help_text=WARNINGS_ONLY)
    reaction = NamedReactionEntity(required=False, help_text=REACTIONS_ONLY)


class GroupedNotificationsResultsEntity(Serializer[Any]):
    accounts = AccountEntity(many=True)
    partial_accounts = ListField(child=DictField(), required=False)
    statuses = StatusEntity(many=True)
    notification_groups = NotificationGroupEntity(many=True)


class UnreadCountEntity(Serializer[Any]):
    count = IntegerField()


class UnreadGroupsEntity(UnreadCountEntity):
    conversations = IntegerField(required=False, help_text="Only if they were asked for")


class PolicySummaryEntity(Serializer[Any]):
    pending_requests_count = IntegerField(help_text="Accounts, among the newest notifications")
    pending_notifications_count = IntegerField()


def _measure_field(**options: Any) -> ChoiceField:
    return ChoiceField(list(MEASURE_BY_NAME), **options)


class NotificationPolicyEntity(Serializer[Any]):
    """What becomes of notifications: of accounts that I do not follow, and so on."""

    for_not_following = _measure_field()
    for_not_followers = _measure_field()
    for_new_accounts = _measure_field()
    for_private_mentions = _measure_field()
    for_limited_accounts = _measure_field()
    summary = PolicySummaryEntity()


class NotificationPolicyBody(Serializer[Any]):
    for_not_following = _measure_field(**OPTIONAL)
    for_not_followers = _measure_field(**OPTIONAL)
    for_new_accounts = _measure_field(**OPTIONAL)
    for_private_mentions = _measure_field(**OPTIONAL)
    for_limited_accounts = _measure_field(**OPTIONAL)


class NotificationPolicyV1Entity(Serializer[Any]):
    filter_not_following = BooleanField()
    filter_not_followers = BooleanField()
    filter_new_accounts = BooleanField()
    filter_private_mentions = BooleanField()
    summary = PolicySummaryEntity()


class NotificationPolicyV1Body(Serializer[Any]):
    filter_not_following = FlagField(**OPTIONAL)
    filter_not_followers = FlagField(**OPTIONAL)
    filter_new_accounts = FlagField(**OPTIONAL)
    filter_private_mentions = FlagField(**OPTIONAL)


class NotificationRequestEntity(Serializer[Any]):
    id = CharField(help_text="That of the account")
    created_at = DateTimeField()
    updated_at = DateTimeField()
    notifications_count = CharField()
    account = AccountEntity()
    last_status = StatusEntity(allow_null=True)


class RequestIdsBody(Serializer[Any]):
    id = ListField(child=CharField(), min_length=1, max_length=MOST_REQUESTS)


class MergedEntity(Serializer[Any]):
    merged = BooleanField()
