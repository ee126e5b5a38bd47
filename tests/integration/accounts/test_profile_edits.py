"""Parts of a profile that Tideline lacks: never dropped in silence.

An account gets another name: it is shown at once, and the old one stays its own.
"""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from accounts.actions import rename
from accounts.actions.rename import copy_usernames, rename_account
from accounts.actions.sign_up import sign_up
from accounts.changes import UserCreated
from accounts.identities.actions.provision_account import create_bound_users
from accounts.jobs.audit_accounts import judge_accounts
from accounts.models import Account, FormerName, User
from accounts.sql import ACCOUNT_NAMES
from accounts.types import NewUser
from infra.api.errors import ValidationFailed
from infra.jobs.audit import AuditRun, Derived
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from integrations.queries.events import read_events, site_position_now
from tests.callers import Caller
from tests.dying import dying_at
from tests.integration.integrations.services import Service
from tests.people import Visitor
from tests.races import failures, run_together
from tests.sign_ups import Person, bearer
from tests.waiting import until
from tests.world import drain_all, make_account, publish

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
    ("source[language]", {"source": {"language": 'a"b'}}),
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


NOW = datetime.now(UTC)
LOOKUP = "/api/v1/accounts/lookup?acct="


def name_at(path, viewer=None):
    answer = Caller(viewer).get(path)
    assert answer.status_code == 200, answer.content
    return answer.json()["username"]


def test_it_shows_the_new_name_at_once_and_both_find_it(ann):
    ben = make_account("ben")
    post_id = publish(ann, "hello @ben")
    reply = publish(ben, "hello @ann")
    for viewer in (None, ann, ben):  # caches are warm
        Caller(viewer).get(f"/api/v1/statuses/{post_id.public}")
        Caller(viewer).get(f"/api/v1/statuses/{reply.public}")
        assert name_at(f"{LOOKUP}ann", viewer) == "ann"
    rename_account(ann, "Anna", NOW)
    for viewer in (None, ann, ben):
        for name in ("ann", "anna", "ANN"):
            assert name_at(f"{LOOKUP}{name}", viewer) == "anna"
        shown = Caller(viewer).get(f"/api/v1/statuses/{post_id.public}").json()
        assert shown["account"]["acct"] == "anna"
        mention = Caller(viewer).get(f"/api/v1/statuses/{reply.public}").json()["mentions"][0]
        assert mention["id"] == str(ann)
        assert name_at(f"{LOOKUP}{mention['acct']}", viewer) == "anna"
    for name in ("ann", "anna"):
        found = Caller(ben).get(f"/api/v2/search?q=@{name}&type=accounts").json()["accounts"]
        assert [each["id"] for each in found] == [str(ann)]
    assert Account.objects.of(ann).get(id=ann).username == "anna"


def test_pages_at_the_old_name_lead_to_the_new_one(ann):
    rename_account(ann, "anna", NOW)
    browser = Client()
    for path in ("", "/replies", "/followers", "/media?max_id=9"):
        answer = browser.get(f"/@ann{path}")
        assert (answer.status_code, answer["Location"]) == (301, f"/@anna{path}")
        assert "no-store" in answer["Cache-Control"], "the name may come back"
        assert browser.get(f"/@anna{path}").status_code == 200


def test_the_old_name_is_reserved_for_its_account(ann):
    rename_account(ann, "anna", NOW)
    ben = make_account("ben")
    for taken in ("ann", "anna", "ANN"):
        with pytest.raises(ValidationFailed, match="taken"):
            rename_account(ben, taken, NOW)
        with pytest.raises(ValidationFailed, match="taken"):
            sign_up(NewUser(taken, "c@d.example", "a-good-long-word"), NOW)
    users = {"u1": UserCreated("ann", "", NOW), "u2": UserCreated("cyd", "", NOW)}
    assert [*create_bound_users(users, {})] == ["u2"], "an import leaves it out"
    rename_account(ann, "ann", NOW)
    assert [*FormerName.objects.values_list("username", flat=True)] == ["anna"]


@pytest.mark.parametrize("wrong", ["a b", "", "x" * 31, "é", "admin"])
def test_what_is_no_name_is_refused(ann, wrong):
    with pytest.raises(ValidationFailed):
        rename_account(ann, wrong, NOW)
    assert User.objects.get(pk=ann).username == "ann"


def test_two_never_get_one_name(ann):
    """A sign-up that waits for the renaming must not get the name that it has freed."""
    for turn in range(5):
        new = NewUser(User.objects.get(pk=ann).username, f"{turn}@d.example", None)
        renames = partial(rename_account, ann, f"anna{turn}", NOW)
        outcomes = run_together([renames, partial(sign_up, new, NOW)])
        assert [type(error) for error in failures(outcomes)] == [ValidationFailed]


@pytest.mark.parametrize("point", ["accounts.before_renamed", "changes.committed"])
def test_a_kill_leaves_nothing_half_renamed(ann, point):
    with dying_at(point):
        rename_account(ann, "anna", NOW)
    drain_all()
    is_renamed = point == "changes.committed"
    name = "anna" if is_renamed else "ann"
    assert User.objects.get(pk=ann).username == name
    assert name_at(f"{LOOKUP}ann") == name
    assert FormerName.objects.exists() == is_renamed
    rename_account(ann, "anna", NOW)
    assert name_at(f"{LOOKUP}ann") == "anna"


def test_a_copy_that_comes_late_brings_no_older_name_back(ann, monkeypatch):
    copy = rename._copy

    def copy_late(alias, names):
        monkeypatch.setattr(rename, "_copy", copy)
        rename_account(ann, "annabel", NOW)
        copy(alias, names)

    monkeypatch.setattr(rename, "_copy", copy_late)
    copy_usernames([ann])
    assert Account.objects.of(ann).get(id=ann).username == "annabel"


def test_a_rename_that_comes_again_changes_nothing(ann):
    rename_account(ann, "anna", NOW)
    drain_all()
    copy_usernames([ann])
    assert Account.objects.of(ann).get(id=ann).username == "anna"


def test_the_audit_finds_and_repairs_a_name_that_differs(ann):
    User.objects.filter(pk=ann).update(username="anna")  # as after a restore
    work = Work([shard_of(ann)], None, None, 100)
    names = Derived(ACCOUNT_NAMES, judge_accounts)
    [batch] = names(AuditRun(bool, repair=True), work)
    assert batch.details == [f"account {ann}: @ann is @anna as a user: repaired"]
    assert Account.objects.of(ann).get(id=ann).username == "anna"
    [batch] = names(AuditRun(bool), work)
    assert not batch.details


def test_a_service_renames_and_subscribers_hear_of_it(world):
    service = Service()
    path = "/api/v1/services/accounts/u1"
    ann = int(service.put(path, {"username": "ann"}).json()["account_id"])
    drain_all()
    before = site_position_now()
    answer = service.put(path, {"username": "Anna", "note": "x"})
    assert answer.status_code == 200, answer.content
    assert answer.json()["username"] == "anna"
    assert service.get(path).json()["username"] == "anna"
    drain_all()
    first = until(lambda: read_events(before, 100).events)[0]
    assert (first.type, first.data["account_id"]) == ("account.updated", str(ann))
    assert Visitor().status_of("/@ann") == 301
