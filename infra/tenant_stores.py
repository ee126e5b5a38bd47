"""The names of a tenant's stores and variables, made from those of its installation."""

from collections.abc import Mapping
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit


def own_variables(name: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Those for this tenant alone, without its name."""
    start = f"TENANT_{name.upper()}__"
    return {key.removeprefix(start): environ[key] for key in environ if key.startswith(start)}


def database_name(name: str, tenant: str) -> str:
    """The tenant's database in place of the installation's of this name."""
    return f"{name}__{tenant}" if tenant else name


def folder_of(tenant: str, folder: str) -> str:
    """The tenant's folder in this one of the installation."""
    return f"{folder.rstrip('/')}/tenants/{tenant}" if tenant else folder


def redis_of(url: str, number: int) -> str:
    """The database of Redis that comes so many after that of the URL."""
    parts = urlsplit(url)
    asked = parse_qs(parts.query)
    if parts.scheme == "unix" or "db" in asked:
        asked["db"] = [str(int(asked.get("db", ["0"])[0]) + number)]
        return f"{url.partition('?')[0]}?{urlencode(asked, doseq=True)}"
    return urlunsplit(parts._replace(path=f"/{int(parts.path.strip('/') or 0) + number}"))
