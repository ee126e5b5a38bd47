"""What the client calls each operation of the OpenAPI document, and what is generated of it."""

import ast
from copy import deepcopy

import pytest

from lab.accept.facts import openapi_document
from lab.client import names
from lab.client.generate import FOLDER, modules_of
from lab.client.names import LEFT_OUT
from lab.client.naming import OperationsUnnamed, name_operations


@pytest.fixture(scope="module")
def document():
    return openapi_document()


def test_a_new_field_makes_it_stale(document):
    changed = deepcopy(document)
    changed["components"]["schemas"]["Status"]["properties"]["tide"] = {"type": "integer"}
    before, after = modules_of(document)["models.py"], modules_of(changed)["models.py"]
    assert before != after
    assert "tide: int | None = None" in after.replace('"', "")


def test_a_new_endpoint_is_named_by_its_path(document):
    changed = deepcopy(document)
    changed["paths"]["/api/v1/tides"] = changed["paths"]["/api/v1/tides/{tide_id}/depth"] = {
        "get": {"responses": {}}
    }
    added = {*name_operations(changed)} - {*name_operations(document)}
    assert {each[:2] for each in added} == {("tides", "mine"), ("tides", "depth")}


def test_an_operation_that_its_path_does_not_name_is_refused(document):
    changed = deepcopy(document)
    operation = {"get": {"responses": {}}}
    changed["paths"]["/tides"] = changed["paths"]["/api/v1/services/tides"] = operation
    del changed["paths"]["/api/v1/polls/{poll_id}/votes"]
    with pytest.raises(OperationsUnnamed) as caught:
        modules_of(changed)
    assert str(caught.value) == (
        "GET /api/v1/services/tides, GET /tides, POST /api/v1/polls/{poll_id}/votes"
    )


def test_two_operations_of_one_name_are_refused(document):
    changed = deepcopy(document)
    changed["paths"]["/api/v2/accounts/lookup"] = {"get": {"responses": {}}}
    with pytest.raises(OperationsUnnamed, match=r"accounts\.lookup"):
        modules_of(changed)


def test_every_reason_leaves_something_out(document):
    existing = {
        f"{verb.upper()} {path}" for path, verbs in document["paths"].items() for verb in verbs
    }
    named = {f"{each.verb} {each.path}" for each in name_operations(document)}
    left_out = sorted(existing - named)
    assert [
        start for start in LEFT_OUT if not any(each.startswith(start) for each in left_out)
    ] == []


def test_what_blocks_and_what_is_awaited_have_the_same_methods():
    blocking, awaiting = (
        methods_in((FOLDER / name).read_text()) for name in ("blocking.py", "awaiting.py")
    )
    assert blocking == {name.removeprefix("Async"): methods for name, methods in awaiting.items()}
    assert len(blocking) > 15


def methods_in(text):
    tree = ast.parse(text)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.name: [each.name for each in node.body if isinstance(each, kinds)]
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def test_known_fields_exist(document):
    schemas = document["components"]["schemas"]
    assert [key for key in names.KNOWN_FIELDS if key[1] not in schemas[key[0]]["properties"]] == []
