"""import accounts: what other systems know about accounts, with their dates."""

from datetime import UTC, datetime

from accounts.actions.sign_up import sign_up
from accounts.models import Account, User
from accounts.queries.load import get_account_json
from accounts.types import NewUser
from infra.sharding.buckets import shard_of
from tests.dying import dying_at
from tests.integration.importing.imports import account, ids_of, run_import
from tests.integration.jobs.outcomes import Outcome
from tests.world import drain_all

ANN = account(
    "ann",
    email="Ann@example.org",
    display_name="Ann B",
    note="hello",
    locked=True,
    bot=True,
    discoverable=False,
    fields=[{"name": "site", "value": "https://example.org"}],
)


def test_an_account_has_the_profile_and_the_date_of_the_other_system(world, tmp_path):
    outcome = run_import("accounts", tmp_path, [ANN])
    assert (outcome.code, outcome.out) == (0, "1 lines done, 1 changed, 0 failed\n")
    [ann] = ids_of("ann")
    row = Account.objects.on(shard_of(ann)).get(pk=ann)
    assert (row.username, row.display_name, row.note) == ("ann", "Ann B", "hello")
    assert (row.is_locked, row.is_bot, row.is_discoverable) == (True, True, False)
    assert row.fields == ANN["fields"]
    assert row.created_at == datetime(2019, 3, 1, 10, tzinfo=UTC)
    user = User.objects.get(pk=ann)
    assert (user.email, user.is_active) == ("Ann@example.org", True)
    assert not user.check_password("!")
    assert b'"created_at":"2019-03-01T' in get_account_json(ann)


def test_the_same_file_again_changes_nothing(world, tmp_path):
    run_import("accounts", tmp_path, [ANN, account("bob")])
    users = [*User.objects.order_by("id").values()]
    outcome = run_import("accounts", tmp_path, [ANN, account("bob")])
    assert outcome.out == "2 lines done, 0 changed, 0 failed\n"
    assert [*User.objects.order_by("id").values()] == users


def test_each_refused_line_has_its_number_and_reason(world, tmp_path):
    sign_up(NewUser("cyd", "cyd@example.org", "a good pass phrase"), datetime.now(UTC))
    lines = [
        account("ann"),
        "not json",
        account("b c"),
        account("cyd"),
        account("dan", email="CYD@example.org"),
        account("eve", created_at="2999-01-01T00:00:00Z"),
        account("fay", nickname="f"),
        account("x" * 31),
        account("gus", note="n" * 501),
        {**account("ann"), "id": "u-other"},
        account("hal", note="a\u0000b"),
        account("ida", created_at="2019-03-01"),
        "",
        account("joe"),
    ]
    refused = tmp_path / "refused.jsonl"
    outcome = run_import("accounts", tmp_path, lines, "--refused", str(refused))
    assert outcome.code == 1
    assert outcome.out.endswith("2 lines done, 2 changed, 11 failed\n")
    told = dict(line.split(": ", 1) for line in outcome.out.splitlines()[:-1])
    assert [int(key.removeprefix("line ")) for key in told] == [*range(2, 13)]
    assert "no JSON" in told["line 2"]
    assert "letters, numbers and underscores" in told["line 3"]
    assert told["line 4"] == told["line 5"] == told["line 10"]
    assert "taken" in told["line 4"]
    assert "future" in told["line 6"]
    assert "nickname" in told["line 7"]
    assert "NUL" in told["line 11"]
    assert refused.read_text().count("\n") == 11
    assert '"line":7' in refused.read_text()
    assert len(ids_of("ann", "joe")) == 2


def test_a_dry_run_writes_nothing(world, tmp_path):
    outcome = run_import("accounts", tmp_path, [ANN, account("b c")], "--dry-run")
    assert outcome.code == 1
    assert outcome.out.endswith("1 lines looked at, 1 would change, 1 failed\n")
    assert not User.objects.exists()


def test_killed_before_the_account_row_the_drain_creates_it(world, tmp_path):
    with dying_at("accounts.before_creating"):
        run_import("accounts", tmp_path, [ANN])
    [ann] = ids_of("ann")
    assert not Account.objects.on(shard_of(ann)).filter(pk=ann).exists()
    drain_all()
    assert Account.objects.on(shard_of(ann)).get(pk=ann).note == "hello"
    assert run_import("accounts", tmp_path, [ANN]).code == 0


def test_killed_before_the_commit_nothing_is_left(world, tmp_path):
    with dying_at("accounts.bound"):
        run_import("accounts", tmp_path, [ANN])
    assert not User.objects.exists()
    assert run_import("accounts", tmp_path, [ANN]).out == "1 lines done, 1 changed, 0 failed\n"


def test_audit_agrees(world, tmp_path):
    from accounts.verbs import AuditAccounts  # noqa: PLC0415

    run_import("accounts", tmp_path, [ANN, account("bob")])
    assert Outcome(AuditAccounts()).code == 0
