"""The Prometheus page, /metrics: what this machine's processes counted, and what the stores say.

It names routes, kinds of changes and loads: nothing for the world. Who came through a proxy is
refused, so that a proxy that forgot to keep the page inside shows nothing; with METRICS_TOKEN
nobody is let in without it.
"""

import hmac
from collections.abc import Iterable
from itertools import chain

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, Metric, generate_latest
from prometheus_client.registry import Collector

from infra.telemetry.gauges import STORE_METRICS
from infra.telemetry.publishing import PUBLISHER, metrics_folder

PROXY_HEADERS = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_VIA")


class AllMetrics(Collector):
    """Collected anew for each look.

    What stores say is not what processes counted: those of a version before may have counted it,
    and Prometheus keeps the first of two values.
    """

    def collect(self) -> Iterable[Metric]:
        asked = list(STORE_METRICS.collect())
        names = {metric.name for metric in asked}
        counted = PUBLISHER.collect(metrics_folder())
        return chain((metric for metric in counted if metric.name not in names), asked)


def export(request: HttpRequest) -> HttpResponse:
    """404 for whom the page is not: it does not say that it exists."""
    if not _is_allowed(request):
        raise Http404
    return HttpResponse(generate_latest(AllMetrics()), content_type=CONTENT_TYPE_LATEST)


def _is_allowed(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        expected = f"Bearer {settings.METRICS_TOKEN}".encode()
        return hmac.compare_digest(request.META.get("HTTP_AUTHORIZATION", "").encode(), expected)
    return not any(name in request.META for name in PROXY_HEADERS)
