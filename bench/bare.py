"""The floor of an HTTP request: Django with one view that returns the file BENCH_BODY."""

import os
from pathlib import Path

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

settings.configure(
    ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=[], SECRET_KEY="bench", USE_TZ=True
)
BODY = Path(os.environ["BENCH_BODY"]).read_bytes()


def bare(request: HttpRequest) -> HttpResponse:
    response = HttpResponse(BODY, content_type="application/json; charset=utf-8")
    response["Content-Length"] = str(len(BODY))
    return response


urlpatterns = [path("bare", bare)]
application = get_wsgi_application()
