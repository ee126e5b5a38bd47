"""The OpenAPI document, and its page: Swagger UI from our own static files."""

import threading
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest

# How long clients may use the document without asking again.
DOCUMENT_AGE_S = 60


class BuiltDocument(NamedTuple):
    body: bytes
    etag: str


class OpenApiDocuments:
    """The document of this process, built at its first use. It does not change until the process
    ends.

    Safety: one thread builds and the others wait, because the generator is not thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._built: BuiltDocument | None = None

    def get(self) -> BuiltDocument:
        """Cost: about a tenth of a second for the first caller."""
        with self._lock:
            if self._built is None:
                self._built = _build()
            return self._built


DOCUMENTS = OpenApiDocuments()


def _build() -> BuiltDocument:
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    body = orjson.dumps(schema, default=str, option=orjson.OPT_INDENT_2)
    return BuiltDocument(body, f'"{sha256(body).hexdigest()[:32]}"')


class OpenApiDocument(Endpoint):
    """The OpenAPI document, as JSON."""

    public = True

    @extend_schema(exclude=True)
    def get(self, request: ApiRequest) -> HttpResponse:
        document = DOCUMENTS.get()
        headers = {
            "ETag": document.etag,
            "Cache-Control": f"public, max-age={DOCUMENT_AGE_S}",
        }
        answer = json_response(document.body, headers=headers)
        held = get_conditional_response(request._request, etag=document.etag, response=answer)
        return held or answer


class DocsPage(SpectacularSwaggerSplitView):
    template_name = "web/docs.html"

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(  # type: ignore[no-untyped-call]
            request, *args, **kwargs
        )
        return response
