"""Parts of a profile that Tideline lacks: never dropped in silence."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from tests.integration.accounts.people import Person, bearer
from tests.world import forget_memory

EDIT = "/api/v1/accounts/update_credentials"
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("locked", {"locked": True}),
    ("locked", {"locked": "1"}),
    ("discoverable", {"discoverable": False}),
    ("indexable", {"indexable": True}),
    ("hide_collections", {"hide_collections": "true"}),
    ("avatar", {"avatar": "data:image/png;base64,AAAA"}),
    ("header", {"header": "x"}),
    ("fields_attributes", {"fields_attributes": [{"name": "site", "value": "x"}]}),
    ("fields_attributes", {"fields_attributes": {"0": {"name": "site", "value": "x"}}}),
    ("fields_attributes", {"fields_attributes[0][name]": "site"}),
    ("source[privacy]", {"source": {"privacy": "private"}}),
    ("source[privacy]", {"source[privacy]": "unlisted"}),
    ("source[sensitive]", {"source": {"sensitive": True}}),
    ("source[language]", {"source[language]": "de"}),
]
ACCEPTED: list[dict[str, Any]] = [
    {"locked": False, "discoverable": True, "indexable": False, "hide_collections": False},
    {"locked": "false", "discoverable": "1"},
    {"source": {"privacy": "public", "sensitive": False, "language": None}},
    {"source[privacy]": "public", "source[sensitive]": "0", "source[language]": ""},
    {"fields_attributes": [], "avatar": None, "header": ""},
    {"fields_attributes": {"0": {"name": "", "value": ""}}},
    {"fields_attributes[0][name]": "", "fields_attributes[0][value]": ""},
]


@pytest.mark.parametrize(("name", "change"), REFUSED)
def test_an_unsupported_part_is_refused_by_name(
    ann: Person, name: str, change: dict[str, Any]
) -> None:
    answer = ann.patch(EDIT, display_name="new", **change)
    assert answer.status_code == 422
    assert list(answer.json()["details"]) == [name]
    assert ann.verify().json()["display_name"] == "", "nothing is changed"


@pytest.mark.parametrize("change", ACCEPTED)
def test_a_value_that_changes_nothing_is_accepted(ann: Person, change: dict[str, Any]) -> None:
    answer = ann.patch(EDIT, display_name="new", **change)
    assert answer.status_code == 200, answer.content
    assert answer.json()["display_name"] == "new"


def test_an_uploaded_avatar_is_refused(ann: Person) -> None:
    form = {"display_name": "new", "avatar": SimpleUploadedFile("a.png", b"x", "image/png")}
    body = encode_multipart(BOUNDARY, form)
    answer = ann.app.client.patch(EDIT, body, MULTIPART_CONTENT, **bearer(ann.token))
    assert answer.status_code == 422
    assert list(answer.json()["details"]) == ["avatar"]


def test_an_account_that_an_earlier_release_locked_is_not_shown_as_locked(ann: Person) -> None:
    """Follows of it need no approval, so clients must not announce a request."""
    sql = "UPDATE accounts_account SET is_locked = true, version = version + 1 WHERE id = %s"
    assert execute(shard_of(ann.id), sql, (ann.id,)) == 1
    redis().call("FLUSHDB")
    forget_memory()
    assert ann.verify().json()["locked"] is False
    assert ann.get(f"/api/v1/accounts/{ann.id}").json()["locked"] is False
