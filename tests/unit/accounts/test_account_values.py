"""Account entities are joined from cached parts.

Which scopes a broad one includes.
"""

from datetime import UTC, datetime

import orjson
import pytest
from pytest_django import Settings

from accounts.api.present import present_account, present_credentials
from accounts.encode import encode_profile
from accounts.scopes import DESCRIPTIONS, MastodonScopes, expand_scopes, unknown_scopes
from accounts.types import Preferences, Profile, ProfileSource

ANN = Profile(7, "ann", 'A "B" \\ é', "x & y", True, datetime(2026, 3, 4, 23, tzinfo=UTC), 3)


def test_fragment_and_counts_make_an_entity(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://tide.example"
    account = orjson.loads(present_account(encode_profile(ANN), b"1,22,333,0,0,20454"))
    assert account["id"] == "7"
    assert account["display_name"] == 'A "B" \\ é'
    assert account["note"] == "<p>x &amp; y</p>"
    assert account["created_at"] == "2026-03-04T00:00:00.000Z"
    assert account["url"] == "https://tide.example/@ann"
    assert account["avatar"].startswith("https://tide.example/avatars/")
    counts = [account[f"{kind}_count"] for kind in ("followers", "following", "statuses")]
    assert counts == [1, 22, 333]
    assert account["last_status_at"] == "2026-01-01"
    assert [account[name] for name in ("suspended", "limited", "memorial")] == [False] * 3
    assert account["moved"] is None


def test_without_counts_there_are_none() -> None:
    account = orjson.loads(present_account(encode_profile(ANN), None))
    assert (account["statuses_count"], account["last_status_at"]) == (0, None)


def test_the_source_is_the_text_as_it_was_typed() -> None:
    account = present_account(encode_profile(ANN), None)
    source = ProfileSource("x & y", [], Preferences("public", False, "", "public", "followed"), 0)
    assert orjson.loads(present_credentials(account, source))["source"]["note"] == "x & y"


def test_quiet_follows_count_for_the_account_itself_only():
    shown = {
        is_own: orjson.loads(present_account(encode_profile(ANN), b"10,20,3,4,5,0", is_own))
        for is_own in (True, False)
    }
    assert (shown[True]["followers_count"], shown[True]["following_count"]) == (10, 20)
    assert (shown[False]["followers_count"], shown[False]["following_count"]) == (6, 15)


class App:
    def __init__(self, scopes: str) -> None:
        self.scopes = scopes


@pytest.mark.parametrize(
    ("scope", "included", "missing"),
    [
        ("read", "read:statuses read:follows profile", "write:statuses follow"),
        ("write", "write:follows write:statuses", "read:statuses profile"),
        ("follow", "read:follows write:follows read:mutes write:blocks", "read:statuses write"),
        ("read:accounts", "profile", "read read:statuses"),
        ("profile", "profile", "read:accounts"),
        ("write:media", "write:media", "write:statuses"),
        ("", "", "read profile"),
    ],
)
def test_what_a_scope_includes(scope: str, included: str, missing: str) -> None:
    assert expand_scopes(scope) >= set(included.split())
    assert expand_scopes(scope).isdisjoint(missing.split())


def test_no_granular_scope_is_left_without_a_broad_one() -> None:
    broad = expand_scopes("read write follow push profile")
    assert broad == set(DESCRIPTIONS)


def test_unknown_scopes_are_named() -> None:
    assert unknown_scopes("read admin:read write:everything") == ["admin:read", "write:everything"]


def test_an_application_may_ask_for_what_it_registered() -> None:
    scopes = MastodonScopes()
    available = set(scopes.get_available_scopes(App("write:follows read")))
    assert "read:statuses" in available
    assert "write" not in available
    assert scopes.get_default_scopes(App("read write")) == ["read"]
    assert scopes.get_default_scopes(App("write:follows")) == ["write:follows"]
