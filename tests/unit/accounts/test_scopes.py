"""Which scopes a broad one includes."""

import pytest

from accounts.scopes import DESCRIPTIONS, MastodonScopes, expand_scopes, unknown_scopes


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
