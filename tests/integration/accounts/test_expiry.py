"""Sessions, codes, tokens and applications are deleted when no client can use them any more."""

from datetime import UTC, datetime, timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from oauth2_provider.models import get_grant_model

from accounts.actions.tokens import issue_token
from accounts.models import AccessToken, Application, RefreshToken, User
from accounts.periodic import REVOKED_FOR, UNUSED_FOR, delete_expired
from tests.world import make_account

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
