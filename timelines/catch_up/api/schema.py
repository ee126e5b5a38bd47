"""The requests and answers of catch-up, for the OpenAPI document only."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import (
    BooleanField,
    CharField,
    IntegerField,
    RegexField,
    Serializer,
)

from accounts.api.schema import AccountEntity
from infra.api.fields import cursor_schema, flag_parameter
from infra.api.parsing import LIMIT_DIGITS
from posts.api.schema import HomeStatusEntity
from posts.ids import BASE36_DIGITS
from timelines.catch_up.pages import MOST_ENTRIES
from timelines.catch_up.types import BOUND_DIGITS
from timelines.markers.api.schema import HomeMarkerEntity

_BOUND = f"[0-9a-z]{{{BOUND_DIGITS}}}"
_LIMIT = {"type": "integer", "minimum": 0, "maximum": 10**LIMIT_DIGITS - 1}
PARAMETERS = [
    OpenApiParameter("limit", _LIMIT, description="Most statuses on the page"),
    OpenApiParameter(
        "bound",
        {"type": "string", "pattern": f"^({_BOUND})?$"},
        description="Of an earlier answer: only what had arrived then. Default: up to now",
    ),
    OpenApiParameter(
        "after_id",
        cursor_schema(BASE36_DIGITS),
        description="The last status of the page before; needs `bound`. Use the `next` link",
    ),
    flag_parameter(
        "exclude_replies", "Leave replies out, but not those to the own posts of their authors"
    ),
    flag_parameter("exclude_reblogs", "Leave every repost out"),
]


class CatchUpGroupEntity(Serializer[Any]):
    account = AccountEntity(help_text="Who posted or reposted these")
    statuses_count = IntegerField(help_text="Of the whole group, when the first page was made")
    is_continued = BooleanField(help_text="The page before has the beginning of the group")
    statuses = HomeStatusEntity(many=True, help_text="Newest first")


class CatchUpLeftOutEntity(Serializer[Any]):
    max_id = CharField(help_text="For `/api/v1/timelines/home`: entries below this status")
    min_id = CharField(help_text="and above this one")


class CatchUpEntity(Serializer[Any]):
    bound = CharField(help_text="Send it to move the marker when the reader is done")
    since_id = CharField(
        allow_null=True, help_text="The marker's status; null if there is no marker"
    )
    statuses_count = IntegerField(help_text="Of all pages, when the first page was made")
    accounts_count = IntegerField(help_text="How many groups all pages have")
    left_out = CatchUpLeftOutEntity(
        allow_null=True, help_text=f"What is older than the newest {MOST_ENTRIES:,} entries"
    )
    reblogged_together = HomeStatusEntity(
        many=True, help_text="Posts that two or more followees reposted, the most reposted first"
    )
    groups = CatchUpGroupEntity(many=True, help_text="Accounts with few statuses first")


class CatchUpEndBody(Serializer[Any]):
    bound = RegexField(f"^{_BOUND}$", help_text="Of the catch-up that was read")


class CaughtUpEntity(Serializer[Any]):
    home = HomeMarkerEntity()
