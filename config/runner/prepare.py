"""All that needs Django before the web starts, in one process: python -m config.runner.prepare FD.

Django takes most of a second to load; three commands would take it three times. What the screen
needs to know is written to the file descriptor FD as JSON.
"""

import io
import json
import sys

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from config.runner.terminal import step


def main() -> None:
    try:
        with step("loading the application"):
            django.setup()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    with step("bringing the databases up to date"):
        call_command("migrate_shards", stdout=io.StringIO())
    with step("loading the demo community"):
        call_command("load_demo")
    with open(int(sys.argv[1]), "w") as answer:
        json.dump({"token": _said_by("demo_token")}, answer)


def _said_by(command: str) -> str:
    output = io.StringIO()
    call_command(command, stdout=output)
    return output.getvalue().strip()


if __name__ == "__main__":
    main()
