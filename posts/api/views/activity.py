"""The weekly activity of the site, as Mastodon publishes it."""

import time

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.api import schema
from posts.queries.site_activity import get_site_activity


class ActivityView(Endpoint):
    """What happened here in each of the last 12 weeks, this one first. At most an hour old."""

    public = True

    @extend_schema(responses=schema.WeekEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        weeks = [
            {
                "week": str(week.began_s),
                "statuses": str(week.statuses),
                "logins": str(week.logins),
                "registrations": str(week.registrations),
            }
            for week in get_site_activity(time.time())
        ]
        return json_response(orjson.dumps(weeks))
