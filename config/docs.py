"""The OpenAPI document, from Django's cache, and its page: Swagger UI from our own static files."""

from typing import Any

from django.conf import settings
from django.core.cache import cache
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

# Also how long the document of an old version may be served after an upgrade.
DOCUMENT_TTL_S = 60


class CachedSchemaGenerator(SchemaGenerator):
    """Builds the document once per DOCUMENT_TTL_S for all processes, because it takes long."""

    def get_schema(self, request: Request | None = None, public: bool = False) -> Any:
        name = f"openapi:{settings.SPECTACULAR_SETTINGS['VERSION']}:{public}"
        document = cache.get(name)
        if document is None:
            document = super().get_schema(request, public)  # type: ignore[no-untyped-call]
            cache.set(name, document, DOCUMENT_TTL_S)
        return document


class OpenApiDocument(SpectacularAPIView):
    generator_class = CachedSchemaGenerator


class DocsPage(SpectacularSwaggerSplitView):
    template_name = "config/docs.html"

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(  # type: ignore[no-untyped-call]
            request, *args, **kwargs
        )
        return response
