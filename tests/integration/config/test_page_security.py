"""What a browser is told about our pages, and that they keep to it.

Pages run Django's own middlewares with all their hooks, and the API runs none of them.

CORS: the API is open to scripts of any page, and nothing else is.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.test import Client
from django.urls import get_resolver
from django.urls import path as django_path
from django.urls.resolvers import URLPattern, URLResolver
from pytest_django import Settings

from accounts.models import User
from infra.api.endpoint import Endpoint
from tests.callers import sign_in, token_of
from tests.world import make_account
from web.middleware import STATELESS_PREFIXES

INLINE_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
INLINE_SCRIPT = re.compile(r"<script(?![^>]*(?:src=|application/json))[^>]*>")
INLINE_ATTRIBUTE = re.compile(r"<[^>]+\s(?:style|on[a-z]+)=[\"']")
ELSEWHERE = re.compile(r"<(?:script|link|img)[^>]+(?:src|href)=[\"'](?:https?:)?//")


@pytest.fixture
def operator(world: None) -> Client:
    User.objects.filter(id=make_account("root")).update(is_staff=True, is_superuser=True)
    client = Client()
    sign_in(client, User.objects.get(username="root"))
    return client


def pages() -> list[str]:
    """Every list and every form of the admin, and what else is shown to browsers."""
    models = [(m._meta.app_label, m._meta.model_name) for m in admin.site._registry]
    lists = [f"/admin/{app}/{model}/" for app, model in models]
    forms = [f"{path}add/" for path in lists]
    return [*lists, *forms, "/admin/", "/admin/hot_keys/", "/auth/sign_in", "/api/docs"]


def test_pages_have_nothing_that_their_policy_keeps_from_running(operator: Client):
    looked_at = 0
    for path in pages():
        answer = operator.get(path)
        if answer.status_code != 200:  # of some there is no form, or no list
            continue
        looked_at += 1
        page, policy = answer.content.decode(), answer["Content-Security-Policy"]
        assert "unsafe" not in policy, path
        assert [style for style in INLINE_STYLE.findall(page) if hash_of(style) not in policy] == []
        for forbidden in (INLINE_SCRIPT, INLINE_ATTRIBUTE, ELSEWHERE):
            assert forbidden.search(page) is None, (path, forbidden.search(page))
    assert looked_at > 15


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_forms_stay_here_and_consent_may_lead_to_any_application(operator: Client):
    for path in ("/admin/", "/", "/public", "/settings/profile", "/nowhere"):
        answer = operator.get(path)
        assert "form-action 'self'" in answer["Content-Security-Policy"], path
        assert answer["X-Content-Type-Options"] == "nosniff", path
    assert "form-action" not in operator.get("/auth/sign_in")["Content-Security-Policy"]


@pytest.mark.parametrize("method", ["get", "post"])
def test_no_refusal_of_a_file_is_taken_for_a_page(operator: Client, method: str):
    answer = getattr(operator, method)("/media/nothing")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path", ["/oauth/authorize", "/auth/sign_in", "/auth/sign_up", "/auth/password"]
)
def test_an_application_may_wait_for_the_window_in_which_a_person_signs_in(
    world: None, path: str
) -> None:
    """With another value browsers tell the application that the window was closed."""
    assert Client().get(path)["Cross-Origin-Opener-Policy"] == "unsafe-none"


def test_other_pages_are_cut_off_from_pages_that_opened_them(operator: Client) -> None:
    for path in ("/", "/settings/profile", "/admin/"):
        assert operator.get(path)["Cross-Origin-Opener-Policy"] == "same-origin", path


@pytest.mark.parametrize("path", ["/auth/sign_in", "/api/docs"])
def test_pages_are_framed_by_nobody(world: None, path: str):
    answer = Client().get(path)
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_the_docs_are_drawn_by_files_of_ours(world: None):
    page = Client().get("/api/docs").content.decode()
    files = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(files) >= 5
    for file in files:
        assert file.startswith(("/static/", "/api/docs?")), file
    script = Client().get("/api/docs?script=")
    assert script["Content-Type"].startswith("application/javascript")
    assert b"SwaggerUIBundle" in script.content


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
    django_path("page", _template),
    django_path("failure", _failure),
    django_path("api/v1/page", _template),
    django_path("api/v1/failure", _failure),
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


ORIGIN = {"Origin": "https://reader.example"}
ASKING = ORIGIN | {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization, content-type",
}


def test_a_script_reads_the_api_and_what_pages_need_to_know(world: None):
    token = token_of(make_account())
    headers = ORIGIN | {"Authorization": f"Bearer {token}"}
    answer = Client().get("/api/v1/timelines/home", headers=headers)
    assert answer.status_code == 200
    assert answer["Access-Control-Allow-Origin"] == "*"
    exposed = answer["Access-Control-Expose-Headers"].split(", ")
    assert {"Link", "X-RateLimit-Remaining", "X-Request-Id"} <= {*exposed}
    assert not answer.has_header("Access-Control-Allow-Credentials")


@pytest.mark.parametrize("path", ["/api/v1/timelines/home", "/api/v1/nothing", "/oauth/token"])
def test_errors_can_be_read_too(world: None, path: str):
    answer = Client().get(path, headers=ORIGIN)
    assert answer.status_code >= 400
    assert answer["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("path", ["/api/v1/statuses", "/oauth/token", "/oauth/revoke"])
def test_a_browser_is_told_beforehand_and_needs_no_token_for_it(world: None, path: str):
    answer = Client().options(path, headers=ASKING)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "POST" in answer["Access-Control-Allow-Methods"]
    assert answer["Access-Control-Allow-Headers"] == "authorization, content-type"


@pytest.mark.parametrize(
    "path", ["/admin/", "/auth/sign_in", "/oauth/authorize", "/health/live", "/metrics", "/"]
)
def test_pages_and_the_inside_are_closed(world: None, path: str):
    for answer in [Client().get(path, headers=ORIGIN), Client().options(path, headers=ASKING)]:
        assert not [name for name in answer.headers if name.startswith("Access-Control-")]


def test_who_is_of_no_other_origin_is_told_nothing(world: None):
    assert not Client().get("/api/v1/instance").has_header("Access-Control-Allow-Origin")
