"""The environment of a tenant: that of the installation, with stores, names and keys of its own.

TENANT names it. Its databases and its Redis are on the servers of the installation, under other
names, so no statement and no key of one tenant can reach another. A variable TENANT_SHOP__NAME is
NAME for the tenant `shop` alone.
"""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import NamedTuple

import psycopg
from django.core.exceptions import ImproperlyConfigured

from infra.tenant_stores import folder_of, own_variables, redis_of
from operations.tenants.sql import READ_ROW

LOCAL_DATABASE = "postgresql://postgres@localhost:5432/tideline"
LOCAL_REDIS = "redis://localhost:6379/0"
# Who a site is. A tenant does not inherit these: it has its own, or none.
OWN_SETTINGS = frozenset(
    {
        *("INSTANCE_TITLE", "MAIL_FROM", "THEME_DIR", "RESERVED_USERNAMES", "LANGUAGE_CODE"),
        *("OIDC_ISSUER", "OIDC_NAME", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"),
        *("OIDC_CREATE_ACCOUNTS", "TRANSLATION_KEY"),
    }
)
# Each machine asks itself how it is.
_OF_THIS_MACHINE = "localhost,127.0.0.1,[::1]"
_CONNECT_S = 3


class TenantRow(NamedTuple):
    """What the default database of the installation knows of a tenant. `number`: from 1."""

    number: int
    url: str
    hosts: list[str]


def tenant_environment(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The variables of this process. Raises: ImproperlyConfigured, for an unknown tenant too.

    Cost: for a tenant a connection to the default database of the installation.
    """
    name = environ.get("TENANT", "")
    if not name:
        return environ
    own = own_variables(name, environ)
    inherited = {key: value for key, value in environ.items() if key not in OWN_SETTINGS}
    return inherited | _derived(name, _read_row(name, environ), environ, own) | own


def _derived(
    name: str, row: TenantRow, environ: Mapping[str, str], own: Mapping[str, str]
) -> dict[str, str]:
    secret = environ.get("SECRET_KEY", "")
    values = {
        "PUBLIC_URL": row.url,
        "ALLOWED_HOSTS": ",".join([*row.hosts, _OF_THIS_MACHINE]),
        "INSTANCE_TITLE": name.capitalize(),
        "REDIS_URL": redis_of(environ.get("REDIS_URL", LOCAL_REDIS), row.number),
    }
    values["MAIL_FROM"] = (
        f"{own.get('INSTANCE_TITLE', values['INSTANCE_TITLE'])} <noreply@{row.hosts[0]}>"
    )
    if environ.get("MEDIA_URL"):
        values["MEDIA_URL"] = folder_of(name, environ["MEDIA_URL"])
    if environ.get("STREAMING_URL"):
        values["STREAMING_URL"] = row.url.replace("http", "ws", 1)
    if secret:
        values["SECRET_KEY"] = urlsafe_b64encode(_key(secret, name) * 2).decode()
    if environ.get("VAPID_PRIVATE_KEY"):
        values["VAPID_PRIVATE_KEY"] = urlsafe_b64encode(_key(secret, f"{name} vapid")).decode()
    return values


def _key(secret: str, purpose: str) -> bytes:
    return hmac.digest(secret.encode(), f"tenant {purpose}".encode(), "sha256")


def _read_row(name: str, environ: Mapping[str, str]) -> TenantRow:
    url = environ.get("DATABASE_URL") or LOCAL_DATABASE
    try:
        with psycopg.connect(url, connect_timeout=_CONNECT_S) as connection:
            row = connection.execute(READ_ROW, (name,)).fetchone()
    except psycopg.Error as error:
        why = str(error).strip().splitlines()[0]
        raise ImproperlyConfigured(f"TENANT: the list of tenants cannot be read: {why}") from None
    if row is None:
        raise ImproperlyConfigured(f"TENANT: there is no tenant {name}")
    return TenantRow(*row)
