"""The command that shows what is read most."""

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from redis.exceptions import RedisError

from infra.caching.fleet_reads import list_read_rates
from infra.verbs import DocumentedCommand


class ShowHotKeys(DocumentedCommand):
    """Shows the Redis keys that are read most, how often, and which of them are hot.

    **When**: Redis is busy and you want to know which keys cause it; or to see whether
    `HOT_KEY_READS` fits. It lists the Redis keys with the most reads over the last five seconds, by
    all processes that read them at least `HOT_KEY_READS`/20 times a second. From `HOT_KEY_READS`
    on, processes serve a key from memory without any action of yours. Only [keys that may be
    copied](../../explanation/caching.md#hot-keys) are counted. Operators see the same at
    `/admin/hot_keys/`. **Costs**: one round trip. Exit code 1 without Redis.

    ```
    $ manage.py caches hot-keys
      reads/s  hot  key
        4,182  yes  timelines.public:v2:{0}
    ```

    `--json` prints one object per line. In `/metrics`: `tideline_hot_keys`,
    `tideline_hot_key_reports_total` (`sent`, `failed`), and the tier `hot` of
    `tideline_cache_reads_total`. When a key becomes hot, `hot_keys.promoted` is logged.
    """

    name = "caches hot-keys"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            warm = list_read_rates(time.time())
        except RedisError as error:
            raise CommandError(f"Redis is away: {error}") from error
        if not options["json"]:
            self.stdout.write(f"{'reads/s':>9}  {'hot':<4} key")
        for name, reads_s in warm:
            is_hot = reads_s >= settings.HOT_KEY_READS
            row = {"key": name, "reads_s": round(reads_s, 1), "is_hot": is_hot}
            text = f"{reads_s:>9,.0f}  {'yes' if is_hot else '':<4} {name}"
            self.stdout.write(json.dumps(row) if options["json"] else text)
