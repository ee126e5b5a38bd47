"""Query parameters that lists share, for the OpenAPI schema."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

PAGING = [
    OpenApiParameter("limit", OpenApiTypes.INT, description="Most items on the page"),
    OpenApiParameter("max_id", OpenApiTypes.STR, description="Older than this cursor"),
    OpenApiParameter("since_id", OpenApiTypes.STR, description="Newer than this, newest first"),
    OpenApiParameter("min_id", OpenApiTypes.STR, description="Right above this cursor"),
]
