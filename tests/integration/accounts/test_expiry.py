"""Sessions, codes, tokens and applications are deleted when no client can use them any more.

A change of another process is in this one's next answer; an ended token ends without delay.

audit accounts compares users with accounts: a shard or the default database was restored.
"""

from datetime import UTC, datetime, timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from oauth2_provider.models import get_grant_model

from accounts.actions.sign_up import sign_up
from accounts.actions.tokens import issue_token
from accounts.identities.actions.provision_account import provision_account
from accounts.identities.queries import find_bound_account
from accounts.identities.types import WantedAccount, id_of_object
from accounts.models import AccessToken, Application, RefreshToken, User
from accounts.periodic import REVOKED_FOR, UNUSED_FOR, delete_expired
from accounts.queries.load import get_account_json
from accounts.queries.profiles import find_profile
from accounts.queries.viewers import find_viewer
from accounts.types import NewUser, ProfileEdit, Restriction, ServiceObject
from accounts.verbs import AuditAccounts
from infra.api.pages import Window
from infra.changes import registry
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from posts.reading.statuses import load_status_json
from relations.actions.follow import follow
from tests.api_process import ApiProcess
from tests.callers import Caller, is_disabled, token_of
from tests.integration.jobs.outcomes import Outcome
from tests.waiting import until
from tests.world import drain_all, make_account, publish, restrict
from timelines.home.page import home_page

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
BEFORE, LATER = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)
LOCK = timedelta(minutes=15)


def application(name: str, created: datetime = NOW, **fields: object) -> Application:
    made = Application.objects.create(name=name, redirect_uris="urn:x", **fields)
    Application.objects.filter(pk=made.pk).update(created=created)
    return made


@pytest.fixture
def user(world: None) -> User:
    return User.objects.get(pk=make_account("ann"))


@pytest.fixture
def used(user: User) -> Application:
    """Registered long ago, and still in use."""
    made = application("used", NOW - 10 * UNUSED_FOR)
    issue_token(user.pk, made.pk, "read", NOW)
    return made


def test_sessions(world: None):
    for key, moment in (("old", BEFORE), ("live", LATER)):
        Session.objects.create(session_key=key, session_data="", expire_date=moment)
    assert delete_expired(NOW)["session"] == 1
    assert Session.objects.get().session_key == "live"


def test_failures_to_sign_in(world: None):
    for name, moment in (("old", BEFORE - LOCK), ("new", LATER - LOCK)):
        row = AccessAttempt.objects.create(username=name, failures_since_start=1)
        AccessAttempt.objects.filter(pk=row.pk).update(attempt_time=moment)
    assert delete_expired(NOW)["accessattempt"] == 1
    assert AccessAttempt.objects.get().username == "new"


def test_codes(user: User, used: Application):
    for code, moment in (("old", BEFORE), ("new", LATER)):
        get_grant_model().objects.create(
            user=user, code=code, application=used, expires=moment, redirect_uri="urn:x"
        )
    assert delete_expired(NOW)["grant"] == 1
    assert get_grant_model().objects.get().code == "new"


def test_tokens_go_when_they_expire_unless_a_refresh_token_needs_them(
    user: User, used: Application
):
    for token, moment in (("old", BEFORE), ("new", LATER), ("renewable", BEFORE)):
        AccessToken.objects.create(token=token, expires=moment, user=user, application=used)
    renewable = AccessToken.objects.get(token="renewable")
    RefreshToken.objects.create(user=user, token="r", application=used, access_token=renewable)
    assert delete_expired(NOW)["accesstoken"] == 1
    assert not AccessToken.objects.filter(token="old").exists()


def test_ended_refresh_tokens_are_remembered_for_a_year_and_more(user: User, used: Application):
    for token, moment in (("old", BEFORE - REVOKED_FOR), ("new", LATER - REVOKED_FOR)):
        RefreshToken.objects.create(user=user, token=token, application=used, revoked=moment)
    RefreshToken.objects.create(user=user, token="live", application=used)
    assert delete_expired(NOW)["refreshtoken"] == 1
    assert RefreshToken.objects.count() == 2


def test_applications_nobody_signed_in_with(user: User, used: Application):
    long_ago = BEFORE - UNUSED_FOR
    application("unused", long_ago)
    application("new", LATER - UNUSED_FOR)
    application("with a quota", long_ago, quota=5)
    application("made by somebody", long_ago, user=user)
    assert delete_expired(NOW)["application"] == 1
    kept = {*Application.objects.values_list("name", flat=True)}
    assert kept == {"used", "new", "with a quota", "made by somebody"}


def test_a_turn_is_short_and_the_next_goes_on(world: None):
    for number in range(5):
        Session.objects.create(session_key=str(number), session_data="", expire_date=BEFORE)
    assert [delete_expired(NOW, limit=2)["session"] for _ in range(4)] == [2, 2, 1, 0]


@pytest.fixture
def other(world):
    """Does something in another process; returns when it is done."""
    with ApiProcess() as process:
        yield process.do


def test_profile_changed_elsewhere(other):
    ann = make_account()
    assert b"Renamed" not in get_account_json(ann)
    other("rename", ann)
    assert b"Renamed" in get_account_json(ann)


def test_post_favourited_elsewhere(other):
    ann, bob = make_account(), make_account()
    post = publish(ann)
    assert b'"favourites_count":0' in load_status_json([post])[post]
    other("favourite", bob, ann, post.moment)
    until(lambda: b'"favourites_count":1' in load_status_json([post])[post])


def test_token_ended_elsewhere(other):
    ann = make_account()
    token = token_of(ann)
    assert find_viewer(token).account_id == ann
    other("suspend", ann)
    assert is_disabled(token)


def test_remembered_pages_show_what_changed_elsewhere(other):
    me, ann = make_account(), make_account()
    follow(me, ann)
    post = publish(ann)
    drain_all()

    def page():
        return b"".join(home_page(me, Window(20)).items)

    for _ in range(3):
        assert b'"favourites_count":0' in page()
    other("rename", ann)
    assert b"Renamed" in page()
    other("favourite", me, ann, post.moment)
    until(lambda: b'"favourites_count":1' in page())


ME = "/api/v1/accounts/verify_credentials"


def audit(*words: str) -> Outcome:
    return Outcome(AuditAccounts(), *words)


def repair(line: str) -> None:
    """The one difference is named, left by a dry run, and repaired once."""
    assert audit().out.splitlines()[:-1] == [line]
    assert audit("--repair", "--dry-run").out.endswith(" 1 would change, 1 failed\n")
    assert audit().code == 1
    repaired = audit("--repair")
    assert (repaired.code, repaired.out.splitlines()[:-1]) == (0, [f"{line}: repaired"])
    assert audit().code == 0


def test_users_with_accounts_are_in_order(world):
    restrict(make_account(), Restriction.LIMITED)
    drain_all()
    assert audit().out == "2 rows done, 0 failed\n"


def test_user_without_an_account_gets_one(world):
    """With a token that is valid, and was answered 404."""
    me = make_account("ann")
    caller = Caller(me)
    execute(shard_of(me), "DELETE FROM accounts_account WHERE id = %s", (me,))
    assert caller.get(ME).status_code == 404
    repair(f"account {me}: user @ann has no account")
    assert caller.get(ME).json()["username"] == "ann"


def test_sign_up_that_is_pending_is_no_difference(world, monkeypatch):
    monkeypatch.setattr(registry, "_inline_consumers", {})
    sign_up(NewUser("new", "new@tide.example", "Tide 4 all people"), datetime.now(UTC))
    assert audit().code == 0
    drain_all()
    assert audit().out == "2 rows done, 0 failed\n"


def test_lost_restrictions_are_copied_again(world):
    me = make_account("ann")
    restrict(me, Restriction.LIMITED)
    drain_all()
    sql = "UPDATE accounts_account SET restrictions = 0, restriction_revision = 0 WHERE id = %s"
    execute(shard_of(me), sql, (me,))
    repair(f"account {me}: user @ann has other restrictions than the account")
    found = fetch_one(
        shard_of(me), "SELECT restrictions FROM accounts_account WHERE id = %s", (me,)
    )
    assert found == (Restriction.LIMITED,)


def test_account_without_a_user_gets_one_who_cannot_sign_in(world):
    """The default database was restored: no new account may take the name."""
    me = make_account("ann")
    User.objects.filter(pk=me).delete()
    repair(f"account {me}: @ann has no user")
    user = User.objects.get(pk=me)
    assert (user.username, user.email, user.has_usable_password()) == ("ann", "", False)


def test_an_object_is_one_again_after_either_database_lost_it(world):
    """Its service finds it by its own id, so no second one is created."""
    owned = ServiceObject("recipe", "17", url="https://product.example/17")
    identity = id_of_object("recipe", "17")
    wanted = WantedAccount(None, ProfileEdit("Soup", service_object=owned))
    me = provision_account(identity, wanted, datetime.now(UTC)).account
    drain_all()
    User.objects.filter(pk=me.account_id).delete()
    repair(f"account {me.account_id}: @{me.username} has no user")
    assert find_bound_account(identity) == me
    execute(shard_of(me.account_id), "DELETE FROM accounts_account")
    repair(f"account {me.account_id}: user @{me.username} has no account")
    known = find_profile(me.account_id)
    assert known.service_object == ServiceObject("recipe", "17")
    assert provision_account(identity, wanted, datetime.now(UTC)).account == me
    assert find_profile(me.account_id).service_object == owned


def test_account_whose_name_is_taken_is_named(world):
    me = make_account("ann")
    User.objects.filter(pk=me).delete()
    make_account("ann")
    repaired = audit("--repair")
    assert (repaired.code, repaired.out.splitlines()[0]) == (1, f"account {me}: @ann has no user")


def test_new_user_never_gets_the_account_of_another(world):
    """The default database was restored, so it would give an id again."""
    _, me = make_account("cyd"), make_account("ann")
    fetch_one("default", "SELECT setval('accounts_user_id_seq', %s)", (me - 1,))
    repair(f"account {me}: its id would be given to a new user; the last was {me - 1}")
    assert make_account("bob") > me


def test_newer_restrictions_of_an_account_are_left_to_moderators(world):
    me = make_account("ann")
    sql = "UPDATE accounts_account SET restrictions = %s, restriction_revision = 1 WHERE id = %s"
    execute(shard_of(me), sql, (Restriction.LIMITED.value, me))
    line = f"account {me}: @ann has newer restrictions than its user"
    repaired = audit("--repair")
    assert (repaired.code, repaired.out.splitlines()[0]) == (1, line)
