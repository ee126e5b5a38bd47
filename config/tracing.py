"""Sentry and OpenTelemetry, if the settings name them (the extra `telemetry`).

Imported only then, by us: redis-py loads a part of OpenTelemetry wherever it is installed.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from infra.telemetry.request_ids import get_request_ids
from infra.telemetry.spans import span, trace_with

Handler = Callable[[HttpRequest], HttpResponseBase]


class RequestSpans:
    """One span per request. It is in MIDDLEWARE only with OTEL_EXPORTER_OTLP_ENDPOINT."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        attributes = {
            "http.request.method": request.method or "",
            "tideline.request_id": "".join(get_request_ids()[:1]),
        }
        with span("request", attributes) as traced:
            response = self.get_response(request)
            match, set_attribute = request.resolver_match, getattr(traced, "set_attribute", None)
            if set_attribute:
                set_attribute("http.route", match.route if match else "unknown")
                set_attribute("http.response.status_code", response.status_code)
        return response


def start_sentry(dsn: str, **options: Any) -> None:
    """Reports unexpected errors with the request's id; no bodies, local variables or persons."""
    import_module("sentry_sdk").init(
        dsn=dsn,
        before_send=_name_request,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        **options,
    )


def start_spans(processor: Any = None) -> Any:
    """Sends spans of requests and drained batches to a collector. Returns the provider.

    OpenTelemetry's own variables name the collector. `processor` replaces the exporter.
    """
    sdk = import_module("opentelemetry.sdk.trace")
    provider = sdk.TracerProvider(
        resource=import_module("opentelemetry.sdk.resources").Resource.create(
            {"service.name": "tideline"}
        )
    )
    provider.add_span_processor(processor or _to_collector())
    tracer = provider.get_tracer("tideline")
    trace_with(lambda name, attributes: tracer.start_as_current_span(name, attributes=attributes))
    return provider


def _to_collector() -> Any:
    exporting = import_module("opentelemetry.sdk.trace.export")
    otlp = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    return exporting.BatchSpanProcessor(otlp.OTLPSpanExporter())


def _name_request(event: Any, _hint: Any) -> Any:
    for request_id in get_request_ids()[:1]:
        event.setdefault("tags", {})["request_id"] = request_id
    return event
