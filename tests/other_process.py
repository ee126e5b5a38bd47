"""What a process started by a test needs to work on the test's own databases."""

import os
from urllib.parse import quote

from django.conf import settings
from django.db import connections

from infra.sharding.placement import all_aliases


def environment_of_this_test() -> dict[str, str]:
    urls = [_url_of(connections[alias].settings_dict) for alias in all_aliases()]
    return os.environ | {
        "DATABASE_URL": urls[0],
        "SHARD_DATABASE_URLS": ",".join(urls[1:]),
        "REDIS_URL": settings.REDIS_URL,
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }


def _url_of(database: dict[str, object]) -> str:
    place = f"host={quote(str(database['HOST']), safe='/')}&port={database['PORT']}"
    return f"postgresql://{database['USER']}@/{database['NAME']}?{place}"
