"""The caller's own profile as it is edited: plain texts, null pictures, featured tags."""

import pytest
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.budgets import count_calls
from tests.callers import Caller, assert_refused
from tests.pictures import picture, upload
from tests.world import publish

PROFILE = "/api/v1/profile"


@pytest.fixture
def owner(ann):
    return Caller(ann, "read write")


def change(owner, **fields):
    return owner.client.patch(PROFILE, fields, "application/json")


def test_a_new_profile(owner):
    assert owner.get(PROFILE).json() == {
        "id": owner.get("/api/v1/accounts/verify_credentials").json()["id"],
        "display_name": "", "note": "", "fields": [],
        "avatar": None, "avatar_static": None, "avatar_description": "",
        "header": None, "header_static": None, "header_description": "",
        "locked": False, "bot": False, "hide_collections": False,
        "discoverable": True, "indexable": True,
        "show_media": True, "show_media_replies": True, "show_featured": True,
        "attribution_domains": [], "featured_tags": [],
    }  # fmt: skip


def test_texts_are_as_they_were_typed_and_what_is_not_sent_stays(owner):
    fields = [{"name": "Site", "value": "https://a.example/<b>"}]
    changed = change(owner, display_name="Ann", note="a < b", locked=True, fields_attributes=fields)
    assert changed.status_code == 200
    profile = changed.json()
    assert (profile["display_name"], profile["note"], profile["locked"]) == ("Ann", "a < b", True)
    assert profile["fields"] == [fields[0] | {"verified_at": None}]
    again = change(owner, bot=True).json()
    assert again == profile | {"bot": True} == owner.get(PROFILE).json()
    shown = owner.get("/api/v1/accounts/verify_credentials").json()
    assert (shown["display_name"], shown["source"]["note"]) == ("Ann", "a < b")


def test_pictures_come_and_go(owner):
    body = encode_multipart(BOUNDARY, {"avatar": upload(picture())})
    profile = owner.client.patch(PROFILE, body, MULTIPART_CONTENT).json()
    assert profile["avatar"] == profile["avatar_static"] is not None
    assert profile["header"] is None
    shown = owner.get("/api/v1/accounts/verify_credentials").json()
    assert shown["avatar"] == profile["avatar"]
    assert owner.delete(f"{PROFILE}/avatar").json()["id"] == profile["id"]
    assert owner.get(PROFILE).json()["avatar"] is None


def test_featured_tags_are_there(owner):
    publish(int(owner.get(PROFILE).json()["id"]), "#tea")
    owner.post("/api/v1/tags/tea/feature")
    [tag] = owner.get(PROFILE).json()["featured_tags"]
    assert (tag["name"], tag["statuses_count"]) == ("tea", "1")


@pytest.mark.parametrize(
    "sent",
    [
        {"show_media": False}, {"show_featured": "0"}, {"attribution_domains": ["a.example"]},
        {"avatar_description": "me"}, {"display_name": "x" * 101}, {"locked": "maybe"},
    ],
)  # fmt: skip
def test_what_it_lacks_is_refused_and_changes_nothing(owner, sent):
    before = owner.get(PROFILE).json()
    assert_refused(change(owner, note="new", **sent), 422)
    assert change(owner, show_media=True).json() == before


def test_scopes(owner):
    account_id = int(owner.get(PROFILE).json()["id"])
    assert Caller(account_id, "profile").get(PROFILE).status_code == 200
    assert_refused(Caller(account_id, "read:statuses").get(PROFILE), 403)
    assert_refused(change(Caller(account_id, "read"), note="x"), 403)
    assert_refused(Caller(None).get(PROFILE), 422)


def test_costs(owner):
    owner.get(PROFILE)
    with count_calls() as calls:
        owner.get(PROFILE)
    assert len(calls.statements) == 2
