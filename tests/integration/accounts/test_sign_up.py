"""Sign-up: refusals, and the state after a crash between the two databases.

`manage.py accounts create`.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from accounts.actions import sign_up as module
from accounts.actions.sign_up import sign_up
from accounts.actions.update_profile import update_profile
from accounts.changes import UserCreated
from accounts.consumers import create_accounts
from accounts.models import Account, User
from accounts.queries.load import find_existing, load_account_json
from accounts.types import NewUser, ProfileEdit
from infra.api.errors import ValidationFailed
from infra.changes.failpoints import arm, disarm
from infra.changes.registry import Delivery
from infra.sharding.buckets import shard_of
from tests.dying import Killed
from tests.sign_ups import PASSWORD, App, Person

LAYING = "accounts.before_creating"
NEW = NewUser("ann", "ann@example.org", PASSWORD, "Ann")


@pytest.fixture
def break_laying() -> object:
    yield lambda error: arm(LAYING, lambda: _raise(error))
    disarm(LAYING)


def _raise(error: BaseException) -> None:
    raise error


def _rows(account_id: int) -> list[Account]:
    return list(Account.objects.of(account_id))


def test_the_account_is_there_at_once(member: Person) -> None:
    assert member.verify().json()["username"] == "ann"
    assert [row.username for row in _rows(member.id)] == ["ann"]


@pytest.mark.parametrize(("locale", "language"), [("de", "de"), ("de-AT", "de"), ("tlh", "")])
def test_a_sign_up_says_its_language(app: App, locale: str, language: str) -> None:
    sent = {"username": "bo", "email": "bo@example.org", "password": PASSWORD, "agreement": True}
    assert app.ask_sign_up(**sent, locale=locale, reason="I like tea").status_code == 200
    assert User.objects.get(username="bo").language == language


def test_killed_between_the_databases_the_drain_lays_the_account(
    world: None, now: datetime, break_laying: Callable[..., None], drain: Callable[[], int]
) -> None:
    break_laying(Killed())
    with pytest.raises(Killed):
        sign_up(NEW, now)
    disarm(LAYING)
    user = User.objects.get(username="ann")
    assert _rows(user.pk) == []
    assert find_existing([user.pk]) == set()  # and "no such account" is cached now

    drain()

    (row,) = _rows(user.pk)
    assert (row.display_name, row.created_at) == ("Ann", now)
    assert find_existing([user.pk]) == {user.pk}


def test_a_shard_out_of_reach_delays_the_account_not_the_sign_up(
    app: App, break_laying: Callable[..., None], drain: Callable[[], int]
) -> None:
    break_laying(OperationalError("connection refused"))
    member = app.sign_up("ann")
    assert member.verify().status_code == 404
    disarm(LAYING)
    drain()
    assert member.verify().status_code == 200


def test_laying_again_changes_nothing(world: None, now: datetime) -> None:
    account_id = sign_up(NEW, now)
    update_profile(account_id, ProfileEdit(display_name="Anna"))
    again = Delivery(1, account_id, now, UserCreated("ann", "Ann", now))
    create_accounts("default", [again, again])
    assert [row.display_name for row in _rows(account_id)] == ["Anna"]
    assert b'"display_name":"Anna"' in load_account_json([account_id])[account_id]


def test_everybody_lands_on_their_own_shard(world: None, now: datetime) -> None:
    ids = [sign_up(NewUser(f"p{n}", f"p{n}@example.org", PASSWORD), now) for n in range(3)]
    for account_id in ids:
        homes = {shard for shard in {shard_of(i) for i in ids} if _is_on(shard, account_id)}
        assert homes == {shard_of(account_id)}


def _is_on(shard: str, account_id: int) -> bool:
    return bool(Account.objects.on(shard).filter(id=account_id))


@pytest.mark.parametrize(
    ("rival", "field"),
    [
        (NewUser("ann", "other@example.org", PASSWORD), "username"),
        (NewUser("anna", "ANN@example.org", PASSWORD), "email"),
    ],
)
def test_the_loser_of_a_race_is_told_what_is_taken(
    world: None, now: datetime, monkeypatch: pytest.MonkeyPatch, rival: NewUser, field: str
) -> None:
    sign_up(NEW, now)
    # Both were checked before either was written: only the constraints are left to tell.
    monkeypatch.setattr(module, "new_user_faults", lambda new, user: [])
    with pytest.raises(ValidationFailed) as refused:
        sign_up(rival, now)
    assert [(fault.field, fault.code) for fault in refused.value.faults] == [(field, "ERR_TAKEN")]
    assert User.objects.count() == 1


FORM = {"username": "bob", "email": "bob@example.org", "password": PASSWORD, "agreement": True}


def test_refusals_name_the_field(app: App, member: Person) -> None:
    for change, field, code in [
        ({"username": ""}, "username", "ERR_BLANK"),
        ({"username": "b b"}, "username", "ERR_INVALID"),
        ({"username": "bøb"}, "username", "ERR_INVALID"),
        ({"username": "b" * 31}, "username", "ERR_TOO_LONG"),
        ({"username": "ANN"}, "username", "ERR_TAKEN"),
        ({"email": ""}, "email", "ERR_BLANK"),
        ({"email": "nowhere"}, "email", "ERR_INVALID"),
        ({"email": "b" * 250 + "@example.org"}, "email", "ERR_TOO_LONG"),
        ({"email": "Ann@Example.org"}, "email", "ERR_TAKEN"),
        ({"password": ""}, "password", "ERR_BLANK"),
        ({"password": "k3§"}, "password", "ERR_TOO_SHORT"),
        ({"password": "password1"}, "password", "ERR_INVALID"),
        ({"password": "x" * 257}, "password", "ERR_TOO_LONG"),
        ({"agreement": False}, "agreement", "ERR_ACCEPTED"),
        ({"agreement": None}, "agreement", "ERR_ACCEPTED"),
    ]:
        answer = app.ask_sign_up(**(FORM | change))
        assert answer.status_code == 422, change
        assert code in [fault["error"] for fault in answer.json()["details"][field]], change
        assert answer.json()["error"].startswith("Validation failed: "), change
        assert User.objects.count() == 1, change


def test_all_faults_are_told_together(app: App, member: Person) -> None:
    answer = app.ask_sign_up(username="ann", email="", password="", agreement=False)
    assert answer.json()["error"] == (
        "Validation failed: Email can't be blank, Username has already been taken,"
        " Password can't be blank, Agreement must be accepted"
    )


def test_what_is_no_text_is_refused(app: App) -> None:
    for value in ["a\x00b", 7, ["x"], {"x": 1}]:
        for field in ["username", "email", "password"]:
            assert app.ask_sign_up(**(FORM | {field: value})).status_code == 422, (field, value)
            assert not User.objects.exists(), (field, value)


def test_the_token_has_the_scopes_that_the_application_asked_with(app: App) -> None:
    token = app.own_token("write:accounts read:statuses")
    headers = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
    before_s = int(datetime.now(UTC).timestamp())
    made = app.client.post("/api/v1/accounts", FORM, **headers).json()
    assert made["scope"] == "write:accounts read:statuses"
    assert made["token_type"] == "Bearer"
    assert before_s <= made["created_at"] <= datetime.now(UTC).timestamp()


WORDS = ["--email", "bob@example.org", "--password", "correct horse battery"]


def test_it_signs_somebody_up(world: None) -> None:
    out = StringIO()
    call_command("accounts", "create", "bob", *WORDS, "--display-name", "Bob", stdout=out)
    user = User.objects.get()
    assert out.getvalue() == f"{user.pk}\n"
    assert user.check_password("correct horse battery")
    assert not user.is_superuser
    assert [row.display_name for row in Account.objects.of(user.pk)] == ["Bob"]


def test_it_makes_a_superuser(world: None) -> None:
    call_command("accounts", "create", "bob", *WORDS, "--superuser", stdout=StringIO())
    assert User.objects.get().is_superuser
    assert User.objects.get().is_staff


def test_it_says_what_is_wrong(world: None) -> None:
    with pytest.raises(CommandError, match="Username must contain only letters"):
        call_command("accounts", "create", "b b", *WORDS)
    assert not User.objects.exists()


def test_it_asks_for_the_password(world: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.verbs.getpass", lambda _: "another secret")
    call_command("accounts", "create", "bob", *WORDS[:2], stdout=StringIO())
    assert User.objects.get().check_password("another secret")
