"""The floor of an HTTP request: Django with one view, which returns a file of BENCH_BODIES.

`/bare?home` returns the file `home`.
"""

import os
from pathlib import Path

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

settings.configure(
    ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=[], SECRET_KEY="bench", USE_TZ=True
)
BODIES = {file.name: file.read_bytes() for file in Path(os.environ["BENCH_BODIES"]).iterdir()}


def bare(request: HttpRequest) -> HttpResponse:
    body = BODIES[request.META["QUERY_STRING"]]
    response = HttpResponse(body, content_type="application/json; charset=utf-8")
    response["Content-Length"] = str(len(body))
    return response


urlpatterns = [path("bare", bare)]
application = get_wsgi_application()
