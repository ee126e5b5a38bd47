"""Fields that a client may not set, sent to every operation that writes: nothing stores them.

The names are all columns of all tables, and what an API could call them. Documented fields of the
operation are left out.
"""

from collections import Counter
from functools import cache
from typing import Any

import orjson
import pytest
from django.apps import apps
from pytest_django import Settings

from infra.sharding.placement import is_allowed, placement_of
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all
from lab.accept.facts import openapi_document
from lab.accept.routes import EndpointMethod, SiteRoute, iter_operations
from tests.contract.roles import Scene
from tests.contract.test_role_matrix import _path, body_of
from tests.sign_ups import FAST_HASHERS

# No row has these by accident.
NUMBER, WORD = 987_654_321, "planted987654321"
OTHER_NAMES: dict[str, object] = {
    **dict.fromkeys(("admin", "limited", "frozen", "suspended", "is_admin", "trusted"), True),
    **dict.fromkeys(("shard", "role", "roles", "group", "edited_at", "state"), WORD),
    **dict.fromkeys(
        ("bucket", "account", "account_id", "user", "owner", "followers_count"), NUMBER
    ),
    **dict.fromkeys(("following_count", "statuses_count", "favourites_count"), NUMBER),
}
# What a client could gain, as numbers that others have, too.
USERS = "SELECT is_staff, is_superuser, is_active, restrictions FROM accounts_user"
APPLICATIONS = """
SELECT skip_authorization, quota, user_id IS NULL, client_type FROM accounts_application
"""
OPERATIONS = sorted(each for each in iter_operations() if each.method != "GET")


def columns() -> dict[str, object]:
    """A value for each name, of the type that is stored: any other could be refused for that."""
    models = apps.get_models(include_auto_created=True)
    fields = [field for model in models for field in model._meta.concrete_fields]
    return {name: value_for(one) for one in fields for name in (one.name, one.attname, one.column)}


def value_for(field: Any) -> object:
    kind = (
        field.target_field.get_internal_type() if field.is_relation else field.get_internal_type()
    )
    if kind == "BooleanField":
        return True
    return NUMBER if "Integer" in kind or kind.endswith("AutoField") else WORD


PLANTED = columns() | OTHER_NAMES


@pytest.fixture(autouse=True)
def fast_hashes(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = FAST_HASHERS


@cache
def documented_fields() -> dict[str, set[str]]:
    """By method and path of the document."""
    document = openapi_document()
    return {
        f"{method.upper()} {path}": _fields_of(document, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }


def _fields_of(document: dict[str, Any], operation: dict[str, Any]) -> set[str]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return set(document["components"]["schemas"].get(name, {}).get("properties", {}))


def all_rows() -> list[tuple[str, Any]]:
    """Every row of every table, by table."""
    return [
        (model._meta.db_table, row)
        for alias in all_aliases()
        for model in apps.get_models(include_auto_created=True)
        if is_allowed(placement_of(model), alias)
        for row in fetch_all(alias, f'SELECT * FROM "{model._meta.db_table}"')
    ]


def powers() -> Counter[Any]:
    return Counter([*fetch_all("default", USERS), *fetch_all("default", APPLICATIONS)])


def planted_rows() -> list[tuple[str, Any]]:
    return [one for one in all_rows() if str(NUMBER) in str(one)]


def send(operation: EndpointMethod, extra: dict[str, Any]) -> tuple[int, Counter[Any]]:
    """The status in a scene of its own, and who got which powers by it."""
    route, method, _ = operation
    scene = Scene("owner")
    body = extra | body_of(method, SiteRoute(route, None).template, scene)
    client, path, before = scene.client("owner"), f"/{_path(route, scene)}", powers()
    answer = client.generic(method, path, orjson.dumps(body), "application/json")
    return answer.status_code, powers() - before


@pytest.mark.slow
def test_fields_that_are_not_documented_are_ignored_or_refused(world: None) -> None:
    for operation in OPERATIONS:
        name = f"{operation.method} {SiteRoute(operation.path, None).template}"
        fields = documented_fields().get(name, set())
        status, gained = send(operation, {})
        planted = {name: value for name, value in PLANTED.items() if name not in fields}
        answered, gained_with_fields = send(operation, planted)
        assert answered in {status, 400, 403, 422}, operation
        assert gained_with_fields in (gained, Counter()), operation
    assert planted_rows() == []
