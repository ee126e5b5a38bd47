"""Sentry and OpenTelemetry, the real packages, with what they would send kept here."""

import os
import subprocess
import sys

import pytest

from lab.runner.child import CHECKOUT

pytestmark = pytest.mark.slow

NAME = "from-the-proxy-0042"
FAULT = """
import os, django
django.setup()
from django.test import Client
from config.tracing import start_sentry
import sentry_sdk
sent = []
class Kept(sentry_sdk.transport.Transport):
    def capture_envelope(self, envelope):
        sent.append(envelope.get_event())
start_sentry("http://key@localhost/1", transport=Kept)
import web.metrics
def fail(*_):
    secret = "hunter2"
    raise ValueError("a fault of ours")
web.metrics.PUBLISHER.collect = fail
client = Client(raise_request_exception=False)
status = client.get("/metrics", headers={"X-Request-Id": "NAME"}).status_code
(event,) = [one for one in sent if one and one.get("exception")]
assert status == 500
assert event["tags"]["request_id"] == "NAME", event.get("tags")
assert "hunter2" not in repr([f.get("vars") for e in event["exception"]["values"]
    for f in e["stacktrace"]["frames"]])
""".replace("NAME", NAME)
SPANS = """
import django
django.setup()
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from django.test import Client
from config.tracing import start_spans
kept = InMemorySpanExporter()
start_spans(SimpleSpanProcessor(kept))
Client().get("/health/live", headers={"X-Request-Id": "NAME"})
(span,) = kept.get_finished_spans()
assert dict(span.attributes) == {
    "http.request.method": "GET", "tideline.request_id": "NAME",
    "http.route": "health/live", "http.response.status_code": 200,
}, span.attributes
""".replace("NAME", NAME)
HIDE = """
import importlib.metadata as packages
def version(name):
    raise packages.PackageNotFoundError(name)
packages.version = version
import django
django.setup()
"""
SENTRY = {"SENTRY_DSN": "http://key@localhost/1"}
OTEL = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:9"}


def run(program, **more):
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **more}
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=CHECKOUT,
        env=environment,
        text=True,
        capture_output=True,
        check=False,
    )


def test_sentry_hears_of_a_fault_with_the_id_and_without_secrets():
    done = run(FAULT, ALLOWED_HOSTS="testserver")
    assert done.returncode == 0, done.stderr


def test_a_request_is_a_span_with_its_id():
    done = run(SPANS, ALLOWED_HOSTS="testserver", **OTEL)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("named", [SENTRY, OTEL], ids=["sentry", "otel"])
def test_without_the_packages_the_setting_is_refused_and_says_what_to_install(named):
    done = run(HIDE, **named)
    assert done.returncode == 1
    assert f"{next(iter(named))}: needs the packages of the extra telemetry" in done.stderr


def test_without_the_settings_neither_is_loaded():
    program = "import sys, django; django.setup(); import config.urls;"
    program += "print({'sentry_sdk', 'opentelemetry.sdk.trace.export'} & {*sys.modules})"
    assert run(program).stdout.strip() == "set()"
