"""Parts of a profile that Tideline lacks: never dropped in silence."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.sign_ups import Person, bearer

EDIT = "/api/v1/accounts/update_credentials"
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("avatar", {"avatar": "https://site.example/a.png"}),
    ("header", {"header": "x"}),
    ("fields_attributes", {"fields_attributes": [{"name": "", "value": "x"}]}),
    ("fields", {"fields_attributes": [{"name": "x" * 256, "value": ""}]}),
    ("fields_attributes", {"fields_attributes": [{"name": "x", "value": ""}] * 5}),
    ("source[privacy]", {"source": {"privacy": "direct"}}),
    ("source[privacy]", {"source[privacy]": "mine"}),
    ("source[language]", {"source[language]": "x" * 17}),
    ("attribution_domains", {"attribution_domains": ["site.example"]}),
    ("avatar_description", {"avatar_description": "Ann on a hill"}),
    ("header_description", {"header_description": "a hill"}),
]
ACCEPTED: list[dict[str, Any]] = [
    {"locked": False, "hide_collections": False},
    {"locked": "false", "discoverable": "1", "hide_collections": "true"},
    {"source": {"privacy": "public", "sensitive": False, "language": None}},
    {"source[privacy]": "public", "source[sensitive]": "0", "source[language]": ""},
    {"fields_attributes": [], "avatar": None, "header": ""},
    {"attribution_domains": [], "avatar_description": "", "header_description": None},
    {"fields_attributes": {"0": {"name": "", "value": ""}}},
    {"fields_attributes[0][name]": "", "fields_attributes[0][value]": ""},
]


def test_an_unsupported_part_is_refused_by_name(member: Person) -> None:
    for name, change in REFUSED:
        answer = member.patch(EDIT, display_name="new", **change)
        assert answer.status_code == 422, (name, change)
        assert list(answer.json()["details"]) == [name], (name, change)
        assert member.verify().json()["display_name"] == "", "nothing is changed"


def test_a_value_that_changes_nothing_is_accepted(member: Person) -> None:
    for number, change in enumerate(ACCEPTED):
        answer = member.patch(EDIT, display_name=f"new {number}", **change)
        assert answer.status_code == 200, answer.content
        assert answer.json()["display_name"] == f"new {number}", change


SITE = {"name": "Site", "value": "a < b"}
FIELDS: list[dict[str, Any]] = [
    {"fields_attributes": [SITE, {"name": "", "value": ""}]},
    {"fields_attributes": {"0": SITE, "1": {"name": "", "value": ""}}},
    {"fields_attributes[0][name]": "Site", "fields_attributes[0][value]": "a < b"},
]


@pytest.mark.parametrize("change", FIELDS)
def test_fields_are_shown_to_all_and_stay_until_they_are_replaced(
    member: Person, change: dict[str, Any]
) -> None:
    mine = member.patch(EDIT, **change).json()
    assert mine["source"]["fields"] == [SITE | {"verified_at": None}]
    member.patch(EDIT, note="other")
    seen = member.app.client.get(f"/api/v1/accounts/{member.id}").json()
    assert seen["fields"] == [{"name": "Site", "value": "a &lt; b", "verified_at": None}]
    assert member.patch(EDIT, fields_attributes=[]).json()["fields"] == []


def test_the_address_of_a_site_is_a_link(member: Person) -> None:
    site = {"name": "Site", "value": "https://a.example/b"}
    mine = member.patch(EDIT, fields_attributes=[site]).json()
    assert mine["fields"][0]["value"].startswith('<a href="https://a.example/b" ')
    assert "<p>" not in mine["fields"][0]["value"]
    assert mine["source"]["fields"][0]["value"] == site["value"]


def test_fields_of_another_shape_are_refused(member: Person) -> None:
    for sent in ["x", 3, ["x"], {"0": 1}, [{"name": 1}], [{"name": "\0"}]]:
        assert member.patch(EDIT, fields_attributes=sent).status_code == 422, sent


def test_fields_come_in_a_form_in_the_order_of_their_numbers(member: Person) -> None:
    pairs = {f"fields_attributes[{n}][{part}]": f"{part} {n}" for n in (10, 9) for part in SITE}
    body = encode_multipart(BOUNDARY, pairs)
    answer = member.app.client.patch(EDIT, body, MULTIPART_CONTENT, **bearer(member.token))
    assert [field["name"] for field in answer.json()["fields"]] == ["name 9", "name 10"]


def test_an_account_can_leave_searches_and_suggestions(member: Person) -> None:
    member.patch(EDIT, discoverable=False, indexable="0")
    seen = member.app.client.get(f"/api/v1/accounts/{member.id}").json()
    assert (seen["discoverable"], seen["indexable"]) == (False, False)
    assert member.patch(EDIT, discoverable=True).json()["indexable"] is False


def test_the_owner_sees_its_role_and_preferences(member: Person) -> None:
    assert member.verify().json()["role"]["permissions"] == "0"
    preferences = member.get("/api/v1/preferences").json()
    assert preferences["posting:default:visibility"] == "public"


def test_an_avatar_that_is_no_image_is_refused(member: Person) -> None:
    form = {"display_name": "new", "avatar": SimpleUploadedFile("a.png", b"x", "image/png")}
    body = encode_multipart(BOUNDARY, form)
    answer = member.app.client.patch(EDIT, body, MULTIPART_CONTENT, **bearer(member.token))
    assert answer.status_code == 422
    assert "File must be one of" in answer.json()["error"]
