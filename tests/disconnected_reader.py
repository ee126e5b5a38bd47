"""A web process without invalidations: `python -m tests.disconnected_reader`, a command a line.

heat ACCOUNT        reads it until this process answers for its profile from memory
ask TOKEN PATH      answers `status body` of a GET
"""

import os
import sys
import time

import django

from tests.waiting import PATIENCE_S


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    from infra.caching.listener import InvalidationListener  # noqa: PLC0415 - needs the settings

    InvalidationListener.start = lambda _: None  # type: ignore[method-assign]
    for line in sys.stdin:
        word, *rest = line.split()
        print(heat(int(rest[0])) if word == "heat" else ask(*rest), flush=True)  # noqa: T201


def heat(account_id: int) -> str:
    from accounts.cache import profiles  # noqa: PLC0415 - needs the settings
    from accounts.queries.load import find_existing  # noqa: PLC0415

    deadline = time.monotonic() + PATIENCE_S
    while not profiles.hot.split((account_id,)).hits:
        if time.monotonic() > deadline:
            return "cold"
        find_existing([account_id])
    return "hot"


def ask(token: str, path: str) -> str:
    from django.test import Client  # noqa: PLC0415 - needs the settings

    answer = Client(headers={"Authorization": f"Bearer {token}"}).get(path)
    return f"{answer.status_code} {answer.content.decode()}"


if __name__ == "__main__":
    main()
