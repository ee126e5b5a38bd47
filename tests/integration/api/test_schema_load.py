"""The OpenAPI document under load: built once, answered to all, and counted."""

from collections.abc import Iterator

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from pytest_django import Settings

from accounts.api import quotas as module
from accounts.api.quotas import QUOTA_PERIOD_S
from infra.caching.quotas import Quotas
from tests.races import run_together
from web import docs


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
