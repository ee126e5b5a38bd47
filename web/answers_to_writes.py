"""Answers to writes of pages, the admin and OAuth leave when no process reads without the write."""

import time

from django.http import HttpRequest, HttpResponseBase

from infra.read_window import wait_for_windows
from web.cross_origin import Handler

_READS = ("GET", "HEAD", "OPTIONS")


class AnswersToWrites:
    """A middleware. The API's endpoints do the same for themselves (infra/api/endpoint.py)."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method in _READS:
            return self.get_response(request)
        began = time.monotonic()
        try:
            return self.get_response(request)
        finally:
            wait_for_windows(began)
