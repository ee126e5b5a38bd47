"""Endpoint of the directory."""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema

from accounts.api.schema import AccountEntity
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.fields import flag_parameter
from infra.api.parsing import read_flag, read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from timelines.search.api.parse import read_offset
from timelines.search.api.schema import LIMIT, OFFSET
from timelines.search.queries.directory import DirectoryOrder, DirectoryPage, list_directory

DEFAULT_LIMIT, MOST = 40, 80
ORDER = OpenApiParameter(
    "order",
    {"type": "string", "enum": [order.value for order in DirectoryOrder]},
    description="By the last public post (the default), or by the sign-up",
)
LOCAL = flag_parameter("local", "Accounts of this server: all are")


class DirectoryView(Endpoint):
    """Accounts that want to be found. The directory has the first few hundred."""

    public = True

    @extend_schema(parameters=[ORDER, LIMIT, OFFSET, LOCAL], responses=AccountEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        query = request.query_params
        read_flag(query, "local")
        page = DirectoryPage(
            _read_order(query.get("order", "")),
            read_offset(query),
            read_limit(query.get("limit"), DEFAULT_LIMIT, MOST),
            request.viewer_id,
        )
        return json_response(b"[%b]" % b",".join(list_directory(page)))


def _read_order(word: str) -> DirectoryOrder:
    """Raises: InvalidRequest."""
    try:
        return DirectoryOrder(word or DirectoryOrder.ACTIVE)
    except ValueError:
        raise InvalidRequest("order must be active or new") from None
