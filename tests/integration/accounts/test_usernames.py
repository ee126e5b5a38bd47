"""Which names only operators give, by each way to an account, and which ones are offered."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from accounts.actions.sign_up import sign_up
from accounts.identities.actions.provision_account import provision_account
from accounts.identities.types import ExternalId, WantedAccount
from accounts.models import User
from accounts.types import NewUser, ProfileEdit
from accounts.usernames import OF_STAFF, propose_username
from infra.api.errors import ValidationFailed
from tests.sign_ups import PASSWORD, App

NAMES = (
    "support", "moderator", "admin", "root", "tideline", "Admin", "_admin_", "mod_2", "acme",
    "supp0rt", "adm1n_7", "007admin", "adrnin", "0ff1c1a1", "tidelin3", "support_team",
    "tideline_support", "acmehelp",
)  # fmt: skip


@pytest.fixture(autouse=True)
def acme(settings: Settings) -> None:
    settings.RESERVED_USERNAMES = ["ac_me"]


@pytest.mark.parametrize("name", NAMES)
def test_no_one_signs_up_with_a_name_of_staff(app: App, name: str) -> None:
    sent = {"email": "x@example.org", "password": PASSWORD, "agreement": "true"}
    refused = app.ask_sign_up(username=name, **sent)
    assert (refused.status_code, refused.json()["details"]["username"][0]["error"]) == (
        422,
        "ERR_RESERVED",
    )
    page = Client().post("/auth/sign_up", {"username": name, **sent})
    assert (page.status_code, b"is reserved" in page.content) == (422, True)
    identity = ExternalId("u1")
    with pytest.raises(ValidationFailed, match="reserved"):
        provision_account(identity, WantedAccount(name, ProfileEdit()), datetime.now(UTC))
    assert not User.objects.exists()


def test_operators_give_them_and_a_name_that_only_contains_one_is_free(app: App) -> None:
    words = ["--email", "b@example.org", "--password", PASSWORD]
    call_command("accounts", "create", "support", *words, stdout=StringIO())
    root = NewUser("root", "r@example.org", PASSWORD, is_superuser=True)
    sign_up(root, datetime.now(UTC))
    for name in ("supporter", "adminka", "root_beer", "teamster", "007", "m0dest"):
        assert app.sign_up(name).token
    assert all(name.isalpha() and name == name.lower() for name in OF_STAFF)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("élodie", "elodie"), ("Weißbär@example.org", "weissbar"), ("Ann B.", "ann_b"),
        ("Łukasz Ørsted", "lukasz_orsted"), ("日本", ""), ("x" * 80, "x" * 30),
        ("\uff46ull", "full"),
    ],
)  # fmt: skip
def test_the_name_that_is_offered(text: str, name: str) -> None:
    assert propose_username(text) == name
