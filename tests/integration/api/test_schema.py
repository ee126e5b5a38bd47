"""The OpenAPI schema and its browsable page, over HTTP.

The OpenAPI document under load: built once, answered to all, and counted.
"""

from collections.abc import Iterator

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from pytest_django import Settings
from structlog.testing import capture_logs

from accounts.api import quotas as module
from accounts.api.quotas import QUOTA_PERIOD_S
from infra.caching.quotas import Quotas
from lab.accept.routes import iter_endpoints
from tests.races import run_together
from web import docs

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


@pytest.fixture
def builds(world: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """One entry for each time that the document is built. None is built yet."""
    seen: list[object] = []
    build = SchemaGenerator.get_schema

    def counted(self: SchemaGenerator, *args: object, **kwargs: object) -> object:
        seen.append(self)
        return build(self, *args, **kwargs)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(SchemaGenerator, "get_schema", counted)
    monkeypatch.setattr(docs, "DOCUMENTS", docs.OpenApiDocuments())
    yield seen


def test_many_first_readers_get_one_document(builds: list[object]) -> None:
    answers = run_together([lambda: Client().get("/api/schema")] * 8)
    assert [getattr(answer, "status_code", answer) for answer in answers] == [200] * 8
    assert len({answer.content for answer in answers}) == 1
    assert len(builds) == 1


def test_a_reader_that_has_the_document_gets_no_body(builds: list[object]) -> None:
    first = Client().get("/api/schema")
    again = Client().get("/api/schema", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert Client().get("/api/schema", headers={"If-None-Match": '"other"'}).status_code == 200


def test_the_address_pays_for_it(
    builds: list[object], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.QUOTA_PER_ADDRESS = 2
    monkeypatch.setattr(module, "quotas", Quotas(QUOTA_PERIOD_S))
    assert [Client().get("/api/schema").status_code for _ in range(3)] == [200, 200, 429]
