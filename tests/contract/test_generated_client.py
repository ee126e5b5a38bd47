"""The generated modules of the client agree with the OpenAPI document."""

import ast
from copy import deepcopy

import pytest
from drf_spectacular.generators import SchemaGenerator

from lab.client import names
from lab.client.generate import FOLDER, OperationsUnnamed, generated_modules, modules_of
from lab.client.names import LEFT_OUT, OF_ACCOUNTS, OF_SERVICES, read_names


@pytest.fixture(scope="module")
def document():
    return SchemaGenerator().get_schema(request=None, public=True)


def test_the_client_is_not_stale():
    stale = [
        name for name, text in generated_modules().items() if (FOLDER / name).read_text() != text
    ]
    assert stale == [], "make client"


def test_a_new_field_makes_it_stale(document):
    changed = deepcopy(document)
    changed["components"]["schemas"]["Status"]["properties"]["tide"] = {"type": "integer"}
    before, after = modules_of(document)["models.py"], modules_of(changed)["models.py"]
    assert before != after
    assert "tide: int | None = None" in after.replace('"', "")


def test_a_new_endpoint_needs_a_name_or_a_reason(document):
    changed = deepcopy(document)
    changed["paths"]["/api/v1/tides"] = {"get": {"responses": {}}}
    del changed["paths"]["/api/v1/polls/{poll_id}"]
    with pytest.raises(OperationsUnnamed) as caught:
        modules_of(changed)
    assert str(caught.value) == "GET /api/v1/polls/{poll_id}, GET /api/v1/tides"


def test_every_reason_leaves_something_out(document):
    named = {f"{each.verb} {each.path}" for each in read_names(OF_ACCOUNTS + OF_SERVICES)}
    existing = [
        f"{verb.upper()} {path}" for path, verbs in document["paths"].items() for verb in verbs
    ]
    left_out = [each for each in existing if each not in named]
    assert [
        start for start in LEFT_OUT if not any(each.startswith(start) for each in left_out)
    ] == []


def test_a_method_has_one_name_in_its_group():
    methods = [(each.group, each.method) for each in read_names(OF_ACCOUNTS + OF_SERVICES)]
    assert len(methods) == len({*methods})


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
