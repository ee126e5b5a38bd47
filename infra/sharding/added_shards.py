"""Shards that were added while processes run: their list is in the default database.

SHARD_DATABASE_URLS has the shards of a new installation. Each process reads the list of those that
came later again when there is a doubt about the bucket map. The URL of one is in a file of
SHARD_URLS_DIR that has its name, because the environment of a process that runs cannot change.
"""

import threading
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from infra.sharding.errors import UnmappedBucket
from infra.sharding.map_copy import MapCopy


class ShardUrl(NamedTuple):
    """`setting`: in words, for operators."""

    setting: str
    url: str


class AddedShards:
    """Those that this process knows. `doubts`: how many there were when the list was read."""

    aliases: tuple[str, ...] = ()
    doubts = -1
    _lock = threading.Lock()

    @classmethod
    def keep(cls, aliases: list[str], doubts: int) -> None:
        """The list as it was read when there were so many doubts. Raises: UnmappedBucket."""
        with cls._lock:
            for alias in aliases:
                connect_to(alias)
            cls.aliases = tuple(aliases)
            cls.doubts = doubts

    @classmethod
    def is_current(cls) -> bool:
        return cls.doubts == MapCopy.doubts


def connect_to(alias: str) -> None:
    """This process can use the database. Safety: idempotent. Raises: UnmappedBucket.

    Cost: reads a file; nothing if the process knows the database.
    """
    if alias in connections.settings:
        return
    setting, url = read_url(alias)
    try:
        database = settings.DATABASE_OF_URL(setting, url)
    except ImproperlyConfigured as error:
        raise UnmappedBucket(str(error)) from error
    # Django's defaults for what the entry leaves out.
    known = connections.configure_settings({**connections.settings, alias: database})
    connections.settings[alias] = known[alias]


def setting_of_added(alias: str) -> str:
    """What has the URL of this shard, in words."""
    return f"SHARD_URLS_DIR/{alias}"


def read_url(alias: str) -> ShardUrl:
    """Raises: UnmappedBucket if there is no such file."""
    setting = setting_of_added(alias)
    if not settings.SHARD_URLS_DIR:
        raise UnmappedBucket(f"SHARD_URLS_DIR is not set: it has the URL of {alias}")
    try:
        return ShardUrl(setting, Path(settings.SHARD_URLS_DIR, alias).read_text().strip())
    except OSError as error:
        raise UnmappedBucket(f"{setting} cannot be read: {error.strerror}") from error
