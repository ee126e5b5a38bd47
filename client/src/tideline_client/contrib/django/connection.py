"""The client that all parts share: one pool of connections for each process."""

import os
from functools import cache

from django.core.signals import setting_changed

from tideline_client import Tideline
from tideline_client.contrib.django.settings import read_settings


@cache
def tideline() -> Tideline:
    """The client for `TIDELINE["URL"]` with `TIDELINE["TOKEN"]`. Raises: ImproperlyConfigured."""
    wanted = read_settings()
    return Tideline(wanted.url, wanted.token)


def _forget(*, setting: str, **_: object) -> None:
    if setting == "TIDELINE":
        tideline.cache_clear()


setting_changed.connect(_forget)
# A child of a server that forks must not use its parent's connections.
os.register_at_fork(after_in_child=tideline.cache_clear)
