"""The caller's own profile as it is edited: plain texts, null pictures, featured tags."""

import pytest
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.budgets import count_calls
from tests.callers import Caller, assert_refused
from tests.pictures import picture, upload
from tests.world import make_account, publish

PROFILE = "/api/v1/profile"


@pytest.fixture
def me(world):
    return Caller(make_account("ann"), "read write")


def change(me, **fields):
    return me.client.patch(PROFILE, fields, "application/json")


def test_a_new_profile(me):
    assert me.get(PROFILE).json() == {
        "id": me.get("/api/v1/accounts/verify_credentials").json()["id"],
        "display_name": "", "note": "", "fields": [],
        "avatar": None, "avatar_static": None, "avatar_description": "",
        "header": None, "header_static": None, "header_description": "",
        "locked": False, "bot": False, "hide_collections": False,
        "discoverable": True, "indexable": True,
        "show_media": True, "show_media_replies": True, "show_featured": True,
        "attribution_domains": [], "featured_tags": [],
    }  # fmt: skip


def test_texts_are_as_they_were_typed_and_what_is_not_sent_stays(me):
    fields = [{"name": "Site", "value": "https://a.example/<b>"}]
    changed = change(me, display_name="Ann", note="a < b", locked=True, fields_attributes=fields)
    assert changed.status_code == 200
    profile = changed.json()
    assert (profile["display_name"], profile["note"], profile["locked"]) == ("Ann", "a < b", True)
    assert profile["fields"] == [fields[0] | {"verified_at": None}]
    again = change(me, bot=True).json()
    assert again == profile | {"bot": True} == me.get(PROFILE).json()
    shown = me.get("/api/v1/accounts/verify_credentials").json()
    assert (shown["display_name"], shown["source"]["note"]) == ("Ann", "a < b")


def test_pictures_come_and_go(me):
    body = encode_multipart(BOUNDARY, {"avatar": upload(picture())})
    profile = me.client.patch(PROFILE, body, MULTIPART_CONTENT).json()
    assert profile["avatar"] == profile["avatar_static"] is not None
    assert profile["header"] is None
    shown = me.get("/api/v1/accounts/verify_credentials").json()
    assert shown["avatar"] == profile["avatar"]
    assert me.delete(f"{PROFILE}/avatar").json()["id"] == profile["id"]
    assert me.get(PROFILE).json()["avatar"] is None


def test_featured_tags_are_there(me):
    publish(int(me.get(PROFILE).json()["id"]), "#tea")
    me.post("/api/v1/tags/tea/feature")
    [tag] = me.get(PROFILE).json()["featured_tags"]
    assert (tag["name"], tag["statuses_count"]) == ("tea", "1")


@pytest.mark.parametrize(
    "sent",
    [
        {"show_media": False}, {"show_featured": "0"}, {"attribution_domains": ["a.example"]},
        {"avatar_description": "me"}, {"display_name": "x" * 101}, {"locked": "maybe"},
    ],
)  # fmt: skip
def test_what_it_lacks_is_refused_and_changes_nothing(me, sent):
    before = me.get(PROFILE).json()
    assert_refused(change(me, note="new", **sent), 422)
    assert change(me, show_media=True).json() == before


def test_scopes(me):
    account_id = int(me.get(PROFILE).json()["id"])
    assert Caller(account_id, "profile").get(PROFILE).status_code == 200
    assert_refused(Caller(account_id, "read:statuses").get(PROFILE), 403)
    assert_refused(change(Caller(account_id, "read"), note="x"), 403)
    assert_refused(Caller(None).get(PROFILE), 422)


def test_costs(me):
    me.get(PROFILE)
    with count_calls() as calls:
        me.get(PROFILE)
    assert len(calls.statements) == 2
