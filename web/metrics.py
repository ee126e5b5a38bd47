"""The Prometheus page /metrics: metrics of this machine's processes and of the servers.

The page is not public: it names routes, kinds of changes and loads. Requests through a proxy get
404, in case the proxy forgot to block the page. With METRICS_TOKEN every request needs the token.
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
    """All metrics, collected for each scrape.

    A metric of the servers replaces one of the same name of the processes: processes of an older
    version may still publish it, and Prometheus keeps the first of two values.
    """

    def collect(self) -> Iterable[Metric]:
        asked = list(STORE_METRICS.collect())
        names = {metric.name for metric in asked}
        counted = PUBLISHER.collect(metrics_folder())
        metrics = chain((metric for metric in counted if metric.name not in names), asked)
        return map(_of_tenant, metrics) if settings.TENANT else metrics


def _of_tenant(metric: Metric) -> Metric:
    """With a label, so that one Prometheus can have the figures of all tenants."""
    named = Metric(metric.name, metric.documentation, metric.type)
    for sample in metric.samples:
        named.add_sample(sample.name, {**sample.labels, "tenant": settings.TENANT}, sample.value)
    return named


def export(request: HttpRequest) -> HttpResponse:
    """The page, or 404 for a request that may not see it."""
    if not _is_allowed(request):
        raise Http404
    return HttpResponse(generate_latest(AllMetrics()), content_type=CONTENT_TYPE_LATEST)


def _is_allowed(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        expected = f"Bearer {settings.METRICS_TOKEN}".encode()
        return hmac.compare_digest(request.META.get("HTTP_AUTHORIZATION", "").encode(), expected)
    return not any(name in request.META for name in PROXY_HEADERS)
