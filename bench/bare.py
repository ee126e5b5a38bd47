"""The floor: Django with one view and nothing else, returning the bytes it was given."""

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

settings.configure(
    ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=[], SECRET_KEY="bench", USE_TZ=True
)
KEPT: dict[str, bytes] = {}


def bare(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        KEPT["body"] = request.body
    body = KEPT.get("body", b"")
    response = HttpResponse(body, content_type="application/json; charset=utf-8")
    response["Content-Length"] = str(len(body))
    return response


urlpatterns = [path("bare", bare)]
application = get_wsgi_application()
