"""Whether there is anything new at home: what clients poll."""

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers

from infra.api.endpoint import Endpoint
from infra.api.fields import cursor_schema
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.ids import BASE36_DIGITS, FIRST, LAST
from timelines.cursors import decode_cursor
from timelines.increments.home_news import find_home_news
from timelines.increments.post_stream import LAG_S
from timelines.types import TimeRange

SINCE = OpenApiParameter(
    "since_id",
    cursor_schema(BASE36_DIGITS),
    description="The newest status one has, or `as_of` of the answer before; default: of all time",
)
UNTIL = OpenApiParameter(
    "max_id", cursor_schema(BASE36_DIGITS), description="Only what is older than this status"
)


class News(serializers.Serializer[None]):
    """For the schema only."""

    new = serializers.BooleanField(help_text="Whether the home timeline has anything newer")
    count = serializers.IntegerField(help_text="About how many accounts published something")
    accounts = serializers.ListField(
        child=serializers.CharField(), help_text="The newest of them, at most 40; newest first"
    )
    as_of = serializers.CharField(
        help_text="To ask from next. Reaches back by lag_s, so some may be named once more"
    )
    lag_s = serializers.IntegerField(
        help_text="Who asks from as_of misses nothing that came in order within so many seconds"
    )


class HomeNewsView(Endpoint):
    """Has anybody I follow, or I myself elsewhere, published anything since, or between two?

    May be wrong in one direction: what is named may be gone again.
    """

    scopes = {"GET": "read:statuses"}
    is_quick = True

    @extend_schema(parameters=[SINCE, UNTIL], responses=News)
    def get(self, request: ApiRequest) -> HttpResponse:
        since_id, max_id = map(request.query_params.get, ("since_id", "max_id"))
        time_range = TimeRange(
            decode_cursor(since_id) if since_id else FIRST,
            decode_cursor(max_id) if max_id else LAST,
        )
        news = find_home_news(request.account_id, time_range)
        body = {
            "new": news.account_count > 0,
            "count": news.account_count,
            "accounts": [str(account_id) for account_id in news.account_ids],
            "as_of": news.as_of.public,
            "lag_s": LAG_S,
        }
        return json_response(orjson.dumps(body))
