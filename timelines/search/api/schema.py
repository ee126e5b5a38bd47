"""The parameters and answers of searches, for the OpenAPI document only."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import Serializer

from accounts.api.schema import AccountEntity
from infra.api.fields import NOT_BLANK, cursor_schema, flag_parameter
from infra.api.parsing import LIMIT_DIGITS
from posts.api.schema import StatusEntity
from posts.ids import BASE36_DIGITS
from timelines.search.api.parse import LONGEST_TEXT, MOST_OFFSET
from timelines.search.types import ResultType
from timelines.tags.api.schema import TagEntity

TEXT = OpenApiParameter(
    "q",
    {"type": "string", "maxLength": LONGEST_TEXT, "pattern": NOT_BLANK},
    required=True,
    description="Words, a name, or the URL of an account or post of this server",
)
LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 0, "maximum": 10**LIMIT_DIGITS - 1},
    description="Most results of each type",
)
OFFSET = OpenApiParameter(
    "offset",
    {"type": "integer", "minimum": 0, "maximum": MOST_OFFSET},
    description="Leave out so many of the best results",
)
RESOLVE = flag_parameter("resolve", "Ask other servers: there are none")
FOLLOWING = flag_parameter("following", "Only accounts that I follow")
TYPE = OpenApiParameter(
    "type",
    {"type": "string", "enum": ["", *ResultType]},
    description="Only results of this type; the other lists are empty",
)
_CURSOR = cursor_schema(BASE36_DIGITS)
EVERYTHING = [
    TEXT,
    TYPE,
    LIMIT,
    OFFSET,
    RESOLVE,
    FOLLOWING,
    flag_parameter("exclude_unreviewed", "Only tags that were reviewed: no tag needs a review"),
    OpenApiParameter(
        "account_id",
        {"type": "string", "pattern": "^([1-9][0-9]{0,8})?$"},
        description="Only posts of this account",
    ),
    OpenApiParameter("max_id", _CURSOR, description="Only posts older than this one"),
    OpenApiParameter("min_id", _CURSOR, description="Only posts newer than this one"),
]


class SearchEntity(Serializer[Any]):
    accounts = AccountEntity(many=True)
    statuses = StatusEntity(many=True)
    hashtags = TagEntity(many=True)
