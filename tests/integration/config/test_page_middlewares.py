"""Pages run Django's own middlewares with all their hooks, and the API runs none of them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.test import Client
from django.urls import get_resolver, path
from django.urls.resolvers import URLPattern, URLResolver
from pytest_django import Settings

from infra.api.endpoint import Endpoint
from web.middleware import STATELESS_PREFIXES

HOOKS = ("process_view", "process_template_response", "process_exception")
called: list[str] = []


class HookRecorder:
    """Writes down which of its hooks Django calls."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        called.append("request")
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: object) -> None:
        called.append("process_view")

    def process_template_response(self, request: HttpRequest, response: Any) -> Any:
        called.append("process_template_response")
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse:
        called.append("process_exception")
        return HttpResponse(status=418)


def _template(request: HttpRequest) -> TemplateResponse:
    return TemplateResponse(request, "pages/locked_out.html", {})


def _failure(request: HttpRequest) -> HttpResponse:
    raise LookupError


urlpatterns = [
    path("page", _template),
    path("failure", _failure),
    path("api/v1/page", _template),
    path("api/v1/failure", _failure),
]


@pytest.fixture
def recorded(settings: Settings) -> Iterator[Client]:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.HookRecorder"]
    settings.ROOT_URLCONF = __name__
    called.clear()
    yield Client(raise_request_exception=False)


def test_pages_run_every_hook(world: None, recorded: Client) -> None:
    assert recorded.get("/page").status_code == 200
    assert called == ["request", "process_view", "process_template_response"]
    called.clear()
    assert recorded.get("/failure").status_code == 418
    assert called == ["request", "process_view", "process_exception"]


def test_the_api_runs_no_hook(world: None, recorded: Client) -> None:
    assert recorded.get("/api/v1/page").status_code == 200
    assert recorded.get("/api/v1/failure").status_code == 500
    assert called == []


def test_every_route_that_is_no_endpoint_is_a_page() -> None:
    """An endpoint reads no cookies. Every other view of the API's prefixes is listed here."""
    apart = {
        route
        for route, view in routes()
        if f"/{route}".startswith(STATELESS_PREFIXES) and not is_endpoint(view)
    }
    probes = {"health", "health/live", "health/ready", "metrics"}
    images = {"media/<path:name>", "avatars/<int:colour>/<str:letter>.svg"}
    assert apart == probes | images


def test_every_page_checks_forms() -> None:
    """Only endpoints are exempt from the check of forms, and endpoints read no cookies."""
    exempt = {
        route
        for route, view in routes()
        if getattr(view, "csrf_exempt", False) and not is_endpoint(view)
    }
    assert exempt == {"api/docs"}, "it answers GET only"


def routes(patterns: Any = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every route with its view."""
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry.url_patterns, route)
        elif isinstance(entry, URLPattern):
            yield route, entry.callback


def is_endpoint(view: Any) -> bool:
    return issubclass(getattr(view, "view_class", object), Endpoint)
