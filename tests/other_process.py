"""What a process started by a test needs to work on the test's own databases."""

import os
from urllib.parse import quote

from django.conf import settings
from django.db import connections

from infra.sharding.bounded import wait_limits
from infra.sharding.shards import all_aliases

_IDLE_S = 120


def end_idle_sessions_late() -> None:
    """Call it before the first connection of a process that a test stops between two steps.

    The product replaces a session that the server ended while it was idle, but not in a
    transaction. One that has begun here and has sent no statement is idle for the server, and on a
    crowded machine the test may do something else for longer than a session may idle.
    """
    wait_limits.IDLE_S = _IDLE_S


def environment_of_this_test() -> dict[str, str]:
    urls = [_url_of(connections[alias].settings_dict) for alias in all_aliases()]
    return os.environ | {
        "DATABASE_URL": urls[0],
        "SHARD_DATABASE_URLS": ",".join(urls[1:]),
        "REDIS_URL": settings.REDIS_URL,
        "REDIS_CLUSTER": str(int(settings.REDIS_CLUSTER)),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }


def _url_of(database: dict[str, object]) -> str:
    place = f"host={quote(str(database['HOST']), safe='/')}&port={database['PORT']}"
    return f"postgresql://{database['USER']}@/{database['NAME']}?{place}"
