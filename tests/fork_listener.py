"""A process that listens, forks, and ends before its child: `python -m tests.fork_listener`.

Parent and child print a line of JSON for each thing they did, and go on when a line comes in.
"""

import json
import os
import sys
import threading
from pathlib import Path

import django

from infra.caching.listener import LISTENER


def main() -> None:
    django.setup()
    LISTENER.start()
    say("listening")
    sys.stdin.readline()
    heard_on = os.readlink(f"/proc/self/fd/{LISTENER._connection._sock.fileno()}")
    if os.fork():
        os._exit(0)
    say("forked", threads=threading.active_count(), holds_socket=heard_on in open_files())
    sys.stdin.readline()
    LISTENER.start()
    say("listening")
    sys.stdin.readline()


def say(did: str, **more: object) -> None:
    print(json.dumps({"did": did} | more), flush=True)  # noqa: T201


def open_files() -> list[str]:
    links = []
    for fd in Path("/proc/self/fd").iterdir():
        try:
            links.append(os.readlink(fd))
        except FileNotFoundError:
            continue  # the one that lists them
    return links


if __name__ == "__main__":
    main()
