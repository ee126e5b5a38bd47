"""`manage.py create_account`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Account, User

WORDS = ["--email", "bob@example.org", "--password", "correct horse battery"]


def test_it_signs_somebody_up(world: None) -> None:
    out = StringIO()
    call_command("create_account", "bob", *WORDS, "--display-name", "Bob", stdout=out)
    user = User.objects.get()
    assert out.getvalue() == f"{user.pk}\n"
    assert user.check_password("correct horse battery")
    assert not user.is_superuser
    assert [row.display_name for row in Account.objects.of(user.pk)] == ["Bob"]


def test_it_makes_a_superuser(world: None) -> None:
    call_command("create_account", "bob", *WORDS, "--superuser", stdout=StringIO())
    assert User.objects.get().is_superuser
    assert User.objects.get().is_staff


def test_it_says_what_is_wrong(world: None) -> None:
    with pytest.raises(CommandError, match="Username must contain only letters"):
        call_command("create_account", "b b", *WORDS)
    assert not User.objects.exists()


def test_it_asks_for_the_password(world: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "accounts.management.commands.create_account.getpass", lambda _: "another secret"
    )
    call_command("create_account", "bob", *WORDS[:2], stdout=StringIO())
    assert User.objects.get().check_password("another secret")
