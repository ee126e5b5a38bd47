"""A process that reads one value again and again: `python -m tests.hot_reader`.

Prints `hot` when it answers from copies, and then each new value it sees, until its standard input
is closed. Its copies would live for an hour: a new value is seen because it was heard of.
"""

import select
import sys

import django

from infra.caching.hot_keys import HotKeyLimits, HotKeys
from infra.caching.hot_values import HotValues
from infra.caching.values import ValueCache

FAMILY = "tests.hot_reader:v1"
OWNER = 1
LIMITS = HotKeyLimits(reads_s=20, copy_s=3_600)


def main() -> None:
    django.setup()
    spec, shown = ValueCache(FAMILY, ttl_s=3_600, load=dict.fromkeys), b""
    spec.hot = HotValues(FAMILY, spec.key, HotKeys(LIMITS))
    while not select.select([sys.stdin], [], [], 0.0005)[0]:
        payload = spec.load_many([OWNER])[OWNER]
        if shown == b"" and spec.hot.split((OWNER,)).hits:
            print("hot", flush=True)  # noqa: T201
            shown = payload
        if shown not in (b"", payload):
            print(payload.decode(), flush=True)  # noqa: T201
            shown = payload


if __name__ == "__main__":
    main()
