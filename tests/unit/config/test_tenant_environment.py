"""The environment of a tenant: stores and keys of its own, and no name of others."""

import pytest

from config import tenant
from config.environment import Environment
from config.tenant import TenantRow, tenant_environment
from infra.tenant_stores import redis_of

SECRET = "secret-of-the-installation-secret-of-the-installation"
INSTALLATION = {
    "TENANT": "shop",
    "SECRET_KEY": SECRET,
    "VAPID_PRIVATE_KEY": "A" * 43 + "=",
    "PUBLIC_URL": "https://feed.example.org",
    "STREAMING_URL": "wss://feed.example.org",
    "INSTANCE_TITLE": "Feed",
    "OIDC_ISSUER": "https://people.example.org",
    "REDIS_URL": "redis://cache:6379/2",
    "MEDIA_URL": "https://cdn.example.org/images",
    "POST_MAX_CHARACTERS": "700",
    "TENANT_SHOP__LANGUAGE_CODE": "de",
    "TENANT_SHOPPING__LANGUAGE_CODE": "fr",
}
ROW = TenantRow(3, "https://shop.example.org", ["shop.example.org", "www.shop.example.org"])


@pytest.fixture(autouse=True)
def row(monkeypatch):
    monkeypatch.setattr(tenant, "_read_row", lambda *_: ROW)


def test_the_installation_itself_keeps_its_environment():
    without = {name: INSTALLATION[name] for name in INSTALLATION if name != "TENANT"}
    assert tenant_environment(without) == without


def test_a_tenant_has_names_and_stores_of_its_own():
    derived = tenant_environment(INSTALLATION)
    assert derived["PUBLIC_URL"] == "https://shop.example.org"
    assert derived["STREAMING_URL"] == "wss://shop.example.org"
    assert derived["ALLOWED_HOSTS"].startswith("shop.example.org,www.shop.example.org,localhost")
    assert derived["REDIS_URL"] == "redis://cache:6379/5"
    assert derived["MEDIA_URL"] == "https://cdn.example.org/images/tenants/shop"
    assert derived["INSTANCE_TITLE"] == "Shop"
    assert derived["MAIL_FROM"] == "Shop <noreply@shop.example.org>"
    assert Environment(derived).database("X", "postgresql://db/tideline")["NAME"] == (
        "tideline__shop"
    )


def test_it_inherits_limits_and_no_identity():
    derived = tenant_environment(INSTALLATION)
    assert derived["POST_MAX_CHARACTERS"] == "700"
    assert "OIDC_ISSUER" not in derived
    assert derived["LANGUAGE_CODE"] == "de", "its own variable, not that of a longer name"


def test_no_key_of_it_is_known_to_another():
    derived = tenant_environment(INSTALLATION)
    other = tenant_environment(INSTALLATION | {"TENANT": "harbor"})
    for name in ("SECRET_KEY", "VAPID_PRIVATE_KEY"):
        assert len({INSTALLATION[name], derived[name], other[name]}) == 3
    assert len(derived["SECRET_KEY"]) >= 50
    assert tenant_environment(INSTALLATION) == derived, "the same in each process"


def test_its_own_variables_come_last():
    own = {"TENANT_SHOP__REDIS_URL": "redis://other:6379/0", "TENANT_SHOP__SECRET_KEY": "x" * 50}
    derived = tenant_environment(INSTALLATION | own)
    assert derived["REDIS_URL"] == "redis://other:6379/0"
    assert derived["SECRET_KEY"] == "x" * 50


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://localhost:6379", "redis://localhost:6379/4"),
        ("rediss://u:p@localhost:6379/1", "rediss://u:p@localhost:6379/5"),
        ("redis://localhost:6379?db=2", "redis://localhost:6379?db=6"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock?db=4"),
        ("unix:///run/redis.sock?db=1", "unix:///run/redis.sock?db=5"),
    ],
)
def test_the_database_of_redis_follows_the_number(url, expected):
    assert redis_of(url, 4) == expected
