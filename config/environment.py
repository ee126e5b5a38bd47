"""Reads and checks the environment; all faults are reported together.

Only `config/settings.py` uses it, which has names, meanings and defaults.
"""

import os
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable, Mapping
from importlib import metadata
from typing import Any, TypeVar

import environ
from django.core.exceptions import ImproperlyConfigured

from infra.tenant_stores import database_name
from timelines.stores.cassandra_url import CassandraServers, cassandra_servers

T = TypeVar("T")
# Of all connections, besides those to replicas, which are not checked.
CONNECTION: Mapping[str, object] = {
    "CONN_MAX_AGE": None,
    "CONN_HEALTH_CHECKS": True,
    "DISABLE_SERVER_SIDE_CURSORS": True,
}

MASK = "***"
_SECRET_NAME = re.compile(r"(KEY|SECRET|TOKEN|DSN|PASSWORD)$")
_USER = re.compile(r"(?<=://)[^\s,]*@")
_SECRET_OPTION = re.compile(r"(\w*(?:key|secret|token|password))=[^&\s,]*", re.IGNORECASE)
# Which extra a setting needs, and its packages.
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "SENTRY_DSN": ("telemetry", "sentry-sdk"),
    "OTEL_EXPORTER_OTLP_ENDPOINT": ("telemetry", "opentelemetry-exporter-otlp-proto-http"),
    "CASSANDRA_URL": ("cassandra", "cassandra-driver"),
    "MEDIA_BUCKET": ("s3", "django-storages", "boto3"),
}
INSECURE_KEY = "insecure-key-for-development-and-tests-only-0123456789abcdef"


class Environment:
    """Reads typed values and collects the faults."""

    def __init__(self, variables: Mapping[str, str] = os.environ) -> None:
        self.env = environ.Env()
        self.env.ENVIRON = variables
        self.tenant = variables.get("TENANT", "")
        self.faults: list[str] = []
        # The variables that say something else than the default, as a log may have them.
        self.changed: dict[str, str] = {}

    def read(self, name: str, cast: Callable[..., T], default: T) -> T:
        """The value of `name`; `default` when it is unset or faulty. Faults are collected."""
        if name not in self.env.ENVIRON:
            return default
        try:
            value = cast(self.env, name)
            if value != default:
                self.changed[name] = masked(name, self.env.ENVIRON[name])
            return value
        except (ImproperlyConfigured, ValueError, KeyError) as error:
            self.faults.append(f"{name}: {error}")
            return default

    def text(self, name: str, default: str) -> str:
        return self.read(name, lambda env, key: env.str(key), default)

    def key(self, name: str, size: int) -> str:
        """A key of `size` bytes in the URL's alphabet of base64; empty when absent."""
        text = self.text(name, "")
        try:
            is_key = not text or len(urlsafe_b64decode(text)) == size
        except ValueError:
            is_key = False
        if not is_key:
            self.faults.append(f"{name}: needs {size} bytes in base64")
        return text

    def flag(self, name: str, default: bool) -> bool:
        return self.read(name, _strict_bool, default)

    def names(self, name: str, default: list[str]) -> list[str]:
        return self.read(name, lambda env, key: env.list(key), default)

    def urls(self, name: str, default: list[str]) -> list[str]:
        """URLs of databases. One may name several servers: `postgresql://a,b/name`."""
        urls = self.read(name, lambda env, key: _split_urls(env.str(key)), default)
        return [url for url in urls if url]

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number between `least` and `most`, both included."""
        value = self.read(name, lambda env, key: env.int(key), default)
        if not least <= value <= most:
            self.faults.append(f"{name}: {value} is not between {least} and {most}")
        return value

    def database(self, name: str, url: str) -> dict[str, object]:
        """Django's DATABASES entry for a postgresql:// URL."""
        try:
            config: dict[str, object] = self.env.db_url_config(url)
        except (ImproperlyConfigured, ValueError, KeyError) as error:
            self.faults.append(f"{name}: not a database URL ({error})")
            return {}
        if config.get("ENGINE") != "django.db.backends.postgresql":
            self.faults.append(f"{name}: Tideline needs PostgreSQL, a postgresql:// URL")
        self.require(
            "," not in str(config.get("NAME")),
            f"{name}: the database's name has a comma; each URL begins with postgresql://",
        )
        config["NAME"] = database_name(str(config.get("NAME")), self.tenant)
        return _with_socket(config)

    def primary(self, name: str, url: str, timeout_ms: int) -> dict[str, object]:
        """Django's DATABASES entry for the default database or a shard."""
        config = self.database(name, url)
        options = {
            "connect_timeout": 3,
            "options": session_options(statement_timeout=timeout_ms),
        }
        return {
            **config,
            **CONNECTION,
            "ENGINE": "infra.sharding.bounded",
            "OPTIONS": merge_options(options, config.get("OPTIONS")),
        }

    def mail(self, url: str) -> dict[str, Any]:
        """Django's settings for the mail server of this URL; empty without one."""
        if not url:
            return {}
        try:
            config: dict[str, Any] = self.env.email_url_config(url)
        except (ImproperlyConfigured, ValueError, KeyError) as error:
            self.faults.append(f"MAIL_URL: not the URL of a mail server ({error})")
            return {}
        return {key: value for key, value in config.items() if value}

    def cassandra(self, url: str) -> CassandraServers | None:
        """None without a URL."""
        try:
            servers = cassandra_servers(url) if url else None
            return servers and servers._replace(
                keyspace=database_name(servers.keyspace, self.tenant)
            )
        except ValueError as error:
            self.faults.append(f"CASSANDRA_URL: {error}")
            return None

    def replica(
        self, name: str, url: str, connection: Mapping[str, object], shard: str, timeout_ms: int
    ) -> dict[str, object]:
        """Django's DATABASES entry for a read replica: read-only, with short timeouts."""
        config = self.database(name, url)
        options = {
            "connect_timeout": 2,
            # For a machine that vanished: it would never answer and never close the connection.
            "tcp_user_timeout": timeout_ms,
            "options": session_options(
                default_transaction_read_only="on", statement_timeout=timeout_ms
            ),
            "answer_s": timeout_ms / 1000,
        }
        return {
            **config,
            **connection,
            "ENGINE": "infra.sharding.bounded",
            # Not needed: a read that fails is repeated on the shard.
            "CONN_HEALTH_CHECKS": False,
            "OPTIONS": merge_options(options, config.get("OPTIONS")),
            "TEST": {"MIRROR": shard},
        }

    def pooled(self, name: str, url: str, direct: Mapping[str, object]) -> dict[str, object]:
        """What differs from the entry `direct` of Django's DATABASES in a web server.

        A pool gives each transaction another session, so a session keeps nothing: its parameters
        come from the role. Moves tell by the role which sessions belong to pools.
        """
        config = self.database(name, url)
        of_url: dict[str, object] = dict(config.get("OPTIONS") or {})  # type: ignore[call-overload]
        self.require(
            "options" not in of_url, f"{name}: a pool takes no options: give them to the role"
        )
        self.require(
            config.get("USER") not in ("", direct.get("USER")),
            f"{name}: needs a role of its own, not the one of the direct URL",
        )
        where = {key: config.get(key, "") for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT")}
        return where | {"OPTIONS": {"connect_timeout": 3, **of_url, "is_pooled": True}}

    def pooled_urls(self, name: str, shard_count: int) -> list[str]:
        """The URL of each shard's pool, empty for a shard without one. All empty when unset."""
        urls = _split_urls(self.text(name, ""))
        if not any(urls):
            return [""] * shard_count
        self.require(
            len(urls) == shard_count,
            f"{name}: {len(urls)} entries for {shard_count} shards; leave those without one empty",
        )
        return urls

    def per_shard(self, name: str, urls: list[str]) -> list[list[str]]:
        """The URLs for each shard of `urls`, in their order; none when unset or faulty.

        Commas separate the shards, and `|` the URLs of one shard: no URL has it unescaped.
        """
        entries = _split_urls(self.text(name, ""))
        if not any(entries):
            return [[] for _ in urls]
        given = [_split(entry) for entry in entries]
        faults = len(self.faults)
        self._check_per_shard(name, given, urls)
        return given if len(self.faults) == faults else [[] for _ in urls]

    def _check_per_shard(self, name: str, given: list[list[str]], urls: list[str]) -> None:
        """The faults never show a URL, which may have a password."""
        parts = [url for some in given for url in some]
        named = [url for url in parts if url]
        self.require(
            len(given) == len(urls),
            f"{name}: {len(given)} entries for {len(urls)} shards; leave those without one empty,"
            " and separate several of one shard by |",
        )
        self.require(
            all("://" in url for url in parts),
            f"{name}: there must be a URL before and after each |; write %7C for a | in a URL",
        )
        self.require(not {*named} & {*urls}, f"{name}: names a shard as a replica")
        self.require(len({*named}) == len(named), f"{name}: names one replica twice")

    def require_packages(self) -> None:
        """Requires the optional packages of the settings that are set."""
        for name in PACKAGES.keys() & self.changed.keys():
            extra, *packages = PACKAGES[name]
            try:
                for package in packages:
                    metadata.version(package)
            except metadata.PackageNotFoundError:
                self.faults.append(f"{name}: needs the packages of the extra {extra}")

    def given(self, names: Iterable[str]) -> list[str]:
        """Those of these variables that are set, in the order of the alphabet."""
        return sorted(name for name in names if name in self.env.ENVIRON)

    def require(self, condition: bool, fault: str) -> None:
        if not condition:
            self.faults.append(fault)

    def finish(self) -> None:
        """Raises ImproperlyConfigured with all collected faults, one per line."""
        if self.faults:
            raise ImproperlyConfigured(
                "The environment is not usable:\n" + "\n".join(f"  - {f}" for f in self.faults)
            )


def masked(name: str, text: str) -> str:
    """The text without passwords and keys: those of URLs, and the whole of a variable that is one.

    More than a password is masked where it cannot be told where that begins.
    """
    if _SECRET_NAME.search(name):
        return MASK
    return _SECRET_OPTION.sub(rf"\1={MASK}", _USER.sub(f"{MASK}@", text))


def late_database(timeout_ms: int, name: str, url: str) -> dict[str, object]:
    """Django's DATABASES entry for a shard that is added while processes run.

    Raises: ImproperlyConfigured, with one fault and without the URL, which may have a password.
    """
    environment = Environment()
    database = environment.primary(name, url, timeout_ms)
    if environment.faults:
        raise ImproperlyConfigured(environment.faults[0])
    return database


def session_options(**parameters: object) -> str:
    """The connection option `options`: parameters that PostgreSQL sets in each session.

    Without jit: the planner overestimates our queries, and compiling one takes a hundred times as
    long as running it.
    """
    words = {"jit": "off", **parameters}
    return " ".join(f"-c {name}={value}" for name, value in words.items())


def merge_options(ours: Mapping[str, object], of_url: object) -> dict[str, object]:
    """The options of a URL win over ours; `options` has both, and the server uses the last one."""
    theirs: dict[str, object] = dict(of_url or {})  # type: ignore[call-overload]
    if "options" in theirs:
        theirs["options"] = f"{ours['options']} {theirs['options']}"
    return {**ours, **theirs}


def _split_urls(text: str) -> list[str]:
    """Entries that may be empty. Other commas are inside a URL, between its servers."""
    return [entry.strip() for entry in re.split(r",(?=\s*(?:[a-z]+://|,|$))", text)]


def _split(entry: str) -> list[str]:
    """The URLs of one shard; none for an empty entry."""
    return [url.strip() for url in entry.split("|")] if entry else []


def _with_socket(config: dict[str, object]) -> dict[str, object]:
    """Moves `?host=/dir&port=5433` of a URL to HOST and PORT, where Django expects them."""
    options = dict(config.get("OPTIONS") or {})  # type: ignore[call-overload]
    for name in ("host", "port"):
        if name in options:
            config[name.upper()] = str(options.pop(name))
    return config | {"OPTIONS": options}


def _strict_bool(env: environ.Env, key: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False}
    value = env.str(key).strip().lower()
    if value not in words:
        raise ValueError(f"{value!r} is neither true nor false")
    return words[value]
