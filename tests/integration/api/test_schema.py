"""The OpenAPI schema and its browsable page, over HTTP."""

import re

import pytest
from django.test import Client
from django.urls import get_resolver
from structlog.testing import capture_logs

from infra.api.endpoint import Endpoint

CONVERTER = re.compile(r"<\w+:|{")


def endpoint_paths() -> set[str]:
    patterns = [p for app in get_resolver().url_patterns for p in getattr(app, "url_patterns", [])]
    return {
        str(pattern.pattern)
        for pattern in patterns
        if issubclass(getattr(pattern.callback, "view_class", object), Endpoint)
    }


def test_schema_and_docs_are_served(client: Client) -> None:
    schema = client.get("/api/schema", headers={"Accept": "application/json"})
    assert schema.status_code == 200
    shown = {CONVERTER.sub("{", path.lstrip("/")) for path in schema.json()["paths"]}
    there = {CONVERTER.sub("{", path).replace(">", "}").rstrip("/") for path in endpoint_paths()}
    # OAuth has a standard of its own, and is the toolkit's.
    assert shown >= {path for path in there if not path.startswith("oauth/")}
    assert client.get("/api/docs").status_code == 200


def test_whatever_takes_a_token_says_how_tokens_are_refused(client: Client) -> None:
    schema = client.get("/api/schema", headers={"Accept": "application/json"}).json()
    operations = [one for path in schema["paths"].values() for one in path.values()]
    guarded = [one for one in operations if one.get("security")]
    assert len(guarded) > 40
    assert all({"401", "403"} <= one["responses"].keys() for one in guarded)


def test_an_error_outside_the_endpoints_is_logged(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("web.docs.OpenApiDocument.get", fail)
    client.raise_request_exception = False
    with capture_logs() as logs:
        assert client.get("/api/schema").status_code == 500
    assert [entry["event"] for entry in logs] == ["request.failed"]
