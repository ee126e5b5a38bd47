"""The OpenAPI schema and its browsable page, over HTTP."""

import pytest
from django.test import Client
from structlog.testing import capture_logs

from lab.accept.routes import iter_endpoints

# Endpoints by the names that they had before Mastodon 4.4, and the document itself.
HIDDEN = {
    "/api/schema",
    "/api/v1/accounts/{account_id}/pin",
    "/api/v1/accounts/{account_id}/unpin",
}


def test_schema_and_docs_are_served(client: Client) -> None:
    schema = client.get("/api/schema", headers={"Accept": "application/json"})
    assert schema.status_code == 200
    there = {route.template for route, _ in iter_endpoints()}
    # OAuth has a standard of its own, and is the toolkit's.
    hidden = {path for path in there - schema.json()["paths"].keys() if "/oauth/" not in path}
    assert hidden == HIDDEN
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
