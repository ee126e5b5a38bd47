"""Answers to requests that get to no endpoint: of the API as an endpoint would refuse them, so that
they count against the quotas and say what is left.
"""

from django.http import HttpRequest, HttpResponse

from infra.api.answers import API_PREFIXES
from infra.api.endpoint import Endpoint
from infra.api.errors import NotFound, TidelineError

_TOO_LARGE = "The request is too large"


class _TooLarge(TidelineError):
    status = 413
    text = _TOO_LARGE


class _NoEndpoint(Endpoint):
    """It has no methods."""


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """No route of the API has this path, or no id can be like the one in the path."""
    return _NoEndpoint().answer_refusal(request, NotFound())


def body_too_large(request: HttpRequest) -> HttpResponse:
    """Also for pages: Django itself answers 400, and has no limit for forms with files."""
    if request.path_info.startswith(API_PREFIXES):
        return _NoEndpoint().answer_refusal(request, _TooLarge())
    return HttpResponse(_TOO_LARGE, "text/plain", 413)
