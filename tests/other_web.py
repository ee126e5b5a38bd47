"""A process that answers API requests: `python -m tests.other_web`, one JSON request a line.

A request is [token, method, path, body]. Prints [status, body] when the answer is ready.
"""

import sys

import django
import orjson


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
