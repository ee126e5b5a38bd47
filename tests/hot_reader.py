"""A process that reads one value again and again: `python -m tests.hot_reader`.

Prints `hot` when it answers from copies, and then `moment payload` for each new value it sees
(moment: the clock that all processes of a machine share), until its standard input is closed.
"""

import select
import sys
import time

import django

from infra.caching.values import ValueCache

FAMILY = "tests.hot_reader:v1"
OWNER = 1


def main() -> None:
    django.setup()
    spec, shown = ValueCache(FAMILY, ttl_s=60, load=dict.fromkeys), b""
    while not select.select([sys.stdin], [], [], 0.0005)[0]:
        payload = spec.load_many([OWNER])[OWNER]
        if shown == b"" and spec.hot.split((OWNER,)).known:
            print("hot", flush=True)  # noqa: T201
            shown = payload
        if shown not in (b"", payload):
            print(time.monotonic(), payload.decode(), flush=True)  # noqa: T201
            shown = payload


if __name__ == "__main__":
    main()
