"""An account gets another name: it is shown at once, and the old one stays its own."""

from datetime import UTC, datetime
from functools import partial

import pytest
from django.test import Client

from accounts.actions import rename
from accounts.actions.rename import copy_usernames, rename_account
from accounts.actions.sign_up import sign_up
from accounts.changes import UserCreated
from accounts.identities.actions.create_bound_users import create_bound_users
from accounts.jobs.audit_account_rows import audit_account_rows
from accounts.models import Account, FormerName, User
from accounts.types import NewUser
from infra.api.errors import ValidationFailed
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from integrations.queries.events import read_events, site_position_now
from tests.callers import Caller
from tests.dying import dying_at
from tests.integration.integrations.services import Service
from tests.people import Visitor
from tests.races import failures, run_together
from tests.world import drain_all, make_account, publish

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
    assert [*create_bound_users(0, users, {})] == ["u2"], "an import leaves it out"
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
    [batch] = audit_account_rows(work, repair=True)
    assert batch.details == [f"account {ann}: @ann is @anna as a user: repaired"]
    assert Account.objects.of(ann).get(id=ann).username == "anna"
    [batch] = audit_account_rows(work, repair=False)
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
    first = read_events(before, 100).events[0]
    assert (first.type, first.data["account_id"]) == ("account.updated", str(ann))
    assert Visitor().status_of("/@ann") == 301
