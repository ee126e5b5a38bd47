"""The page of the API's documentation: Swagger UI, from our own static files."""

from typing import Any

from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from config.content_policy import PAGES


class DocsPage(SpectacularSwaggerSplitView):
    """It is under /api/, past the page middlewares, so it brings their headers itself."""

    template_name = "config/docs.html"

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(  # type: ignore[no-untyped-call]
            request, *args, **kwargs
        )
        response["Content-Security-Policy"] = PAGES
        response["X-Content-Type-Options"] = "nosniff"
        response["X-Frame-Options"] = "DENY"
        return response
