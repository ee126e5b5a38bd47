"""A process that answers API requests: `python -m tests.other_web`, one JSON request a line.

A request is [token, method, path, body]. Prints [status, body] when the answer is ready.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import django
import orjson
from django.conf import settings

from tests.other_process import environment_of_this_test

# Of `waiting_web`, whose answers to writes wait so long.
WINDOW_MS = 100


@contextmanager
def other_web(**environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """The test's end of it. Its threads end with the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.other_web"],
        env=environment_of_this_test() | environment,
        cwd=settings.BASE_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        yield process
        assert process.stdin
        process.stdin.close()


def main() -> None:
    django.setup()
    from django.test import Client  # noqa: PLC0415 - needs the settings

    client = Client()
    for line in sys.stdin:
        token, method, path, body = orjson.loads(line)
        answer = client.generic(
            method,
            path,
            b"" if body is None else orjson.dumps(body),
            "application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        sys.stdout.buffer.write(orjson.dumps([answer.status_code, answer.content.decode()]) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
