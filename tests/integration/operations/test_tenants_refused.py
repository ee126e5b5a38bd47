"""What cannot be done with a tenant is said before anything is made."""

import pytest
from django.db import connections

from infra.caching.client import redis
from infra.sharding.sql import execute
from operations.tenants.actions.change_state import resume_tenant, set_state, suspend_tenant
from operations.tenants.actions.create_tenant import change_hosts, create_tenant, url_of
from operations.tenants.actions.delete_tenant import delete_tenant
from operations.tenants.actions.export_tenant import export_tenant
from operations.tenants.models import Tenant
from operations.tenants.queries import find_tenant, list_tenants
from operations.tenants.types import NewTenant, TenantRefused, TenantState

HOST = "shop.example.org"


@pytest.fixture(autouse=True)
def site(world, settings, monkeypatch):
    """The Redis of the tenant is that of this test: the next database is of another one."""
    monkeypatch.setenv("TENANT_SHOP__REDIS_URL", settings.REDIS_URL)
    settings.ALLOWED_HOSTS = ["feed.example.org", ".inner.example.org", "localhost"]
    settings.PUBLIC_URL = "https://feed.example.org"


@pytest.fixture
def shop():
    return Tenant.objects.create(
        name="shop", hosts=[HOST], url=f"https://{HOST}", state=TenantState.ACTIVE
    )


def refusal(act, *words):
    with pytest.raises(TenantRefused) as raised:
        act(*words)
    return str(raised.value)


def refused(name="shop", host=HOST, url=""):
    said = refusal(create_tenant, NewTenant(name, [host], url or url_of(host)), print)
    assert not Tenant.objects.filter(name=name, state=TenantState.CREATING).exists()
    return said


@pytest.mark.parametrize("name", ["", "a", "Shop", "1shop", "a-b", "a_b", "é" * 3, "a" * 21])
def test_names(name):
    assert refused(name).startswith("A name has 2 to 20 small letters and digits")


@pytest.mark.parametrize("host", ["", "a b", "a/b", "a:80", "-a.org", "a..b", "ä.org", "a" * 64])
def test_hosts(host):
    assert refused(host=host) == f"{host} is no name of a host, such as shop.example.org."


@pytest.mark.parametrize("host", ["feed.example.org", "a.inner.example.org", "localhost"])
def test_hosts_of_the_installation(host):
    assert refused(host=host) == f"{host} belongs to this site, by ALLOWED_HOSTS."


def test_a_site_that_answers_to_each_name(settings):
    settings.ALLOWED_HOSTS = ["*"]
    assert refused().startswith("ALLOWED_HOSTS is *")


@pytest.mark.parametrize("url", ["ftp://shop.example.org", "https://other.example.org", "shop"])
def test_the_url_begins_with_a_host(url):
    assert refused(url=url).startswith(f"{url} does not begin with http")


def test_one_name_and_one_host_is_of_one_tenant(shop):
    assert refused(name="other") == f"{HOST} belongs to the tenant shop."
    assert refused().endswith("There is a tenant shop already: it is active.")
    Tenant.objects.update(state=TenantState.DELETED)
    assert refused().endswith("There is a tenant shop already: it is deleted.")


def test_a_database_of_redis_that_is_in_use(settings, monkeypatch):
    """The first process of the tenant would empty it."""
    monkeypatch.setenv("TENANT_USED__REDIS_URL", settings.REDIS_URL)
    redis().call("SET", "of-others", "1")
    said = refusal(create_tenant, NewTenant("used", [HOST], url_of(HOST)), print)
    assert said.startswith("The database of Redis for it is not empty: ")
    monkeypatch.setenv("TENANT_USED__REDIS_URL", "redis://127.0.0.1:1/0")
    said = refusal(create_tenant, NewTenant("used", [HOST], url_of(HOST)), print)
    assert said.startswith("Redis has no database ")


def test_a_role_that_may_not_create_databases(monkeypatch):
    redis().call("FLUSHDB")
    execute("default", "DROP ROLE IF EXISTS plain_role")
    execute("default", "CREATE ROLE plain_role LOGIN")
    monkeypatch.setitem(connections["default"].settings_dict, "USER", "plain_role")
    try:
        said = refusal(create_tenant, NewTenant("shop", [HOST], url_of(HOST)), print)
    finally:
        execute("default", "DROP ROLE plain_role")
    assert said == (
        "default: the role plain_role may not create databases: ALTER ROLE plain_role CREATEDB."
    )


def test_one_that_was_never_complete_is_deleted(shop):
    Tenant.objects.update(state=TenantState.CREATING)
    assert delete_tenant("shop", print).keys() == {"tenant", "images", "redis_keys", "deleted_at"}
    assert find_tenant("shop").state == TenantState.DELETED
    assert refusal(change_hosts, "shop", [HOST], url_of(HOST)) == "The tenant shop is deleted."
    assert refusal(export_tenant, "shop", "/nowhere", print) == "The tenant shop is deleted."


def test_two_commands_at_once(shop):
    """One of them says so, and changes nothing."""
    stale = find_tenant("shop")
    suspend_tenant("shop")
    said = refusal(set_state, stale, TenantState.DELETING)
    assert said == "Another command changes the tenant shop. Try again."
    assert find_tenant("shop").state == TenantState.SUSPENDED


def test_states(shop):
    assert suspend_tenant("shop").state == TenantState.SUSPENDED
    assert suspend_tenant("shop").state == TenantState.SUSPENDED, "once more changes nothing"
    assert resume_tenant("shop").state == TenantState.ACTIVE
    Tenant.objects.update(state=TenantState.DELETING)
    assert refusal(resume_tenant, "shop") == "The tenant shop is deleting."
    assert refusal(suspend_tenant, "unknown") == "There is no tenant unknown."


def test_only_a_tenant_at_rest_is_exported_or_deleted(shop, tmp_path):
    said = "The tenant shop is active. First: manage.py tenants suspend shop"
    assert refusal(export_tenant, "shop", tmp_path / "new", print) == said
    assert not (tmp_path / "new").exists()
    assert refusal(delete_tenant, "shop", print) == said
    assert find_tenant("shop").state == TenantState.ACTIVE


def test_one_that_is_resumed_while_it_is_exported(shop, tmp_path, monkeypatch):
    """Its dumps may be of two moments."""
    monkeypatch.setattr("operations.tenants.actions.export_tenant.databases_of", lambda _: {})
    suspend_tenant("shop")
    said = refusal(export_tenant, "shop", tmp_path, lambda _: resume_tenant("shop"))
    assert said == "The tenant shop was changed by another command. Begin again."
    assert not (tmp_path / "tenant.json").exists()


def test_other_hosts(shop):
    changed = change_hosts("shop", [HOST, "b.example.org"], "https://b.example.org")
    assert changed.hosts == [HOST, "b.example.org"]
    said = refusal(change_hosts, "shop", ["localhost"], "https://localhost")
    assert said == "localhost belongs to this site, by ALLOWED_HOSTS."


def test_a_tenant_knows_nothing_of_the_others(shop, settings):
    settings.TENANT = "shop"
    assert refusal(find_tenant, "shop") == "This is the tenant shop: run it without TENANT."


def test_the_list_has_no_deleted_one(shop):
    assert [tenant.name for tenant in list_tenants()] == ["shop"]
    Tenant.objects.update(state=TenantState.DELETED)
    assert list_tenants() == []
