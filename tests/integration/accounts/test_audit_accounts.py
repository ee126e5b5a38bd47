"""audit_accounts compares users with accounts: a shard or the default database was restored."""

from datetime import UTC, datetime

from accounts.actions.sign_up import sign_up
from accounts.management.commands.audit_accounts import Command
from accounts.models import User
from accounts.types import NewUser, Restriction
from infra.changes import registry
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from tests.callers import Caller
from tests.integration.jobs.outcomes import Outcome
from tests.world import drain_all, make_account, restrict

ME = "/api/v1/accounts/verify_credentials"


def audit(*words: str) -> Outcome:
    return Outcome(Command(), *words)


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
