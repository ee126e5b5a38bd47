#!/usr/bin/env python
"""Django's command line for Tideline. docs/reference/commands describes every command."""

import gc
import os
import sys

from django.core.management import execute_from_command_line

from config.old_commands import refuse_old_name
from infra.sharding.errors import NO_ANSWER, DatabaseUnusable
from infra.sharding.probe import error_line

# New objects before the collector visits them. Those that loading makes all stay: with Python's 700
# a tenth of a command's start goes by in visits of them.
NEW_OBJECTS = 50_000


def main() -> None:
    gc.set_threshold(NEW_OBJECTS)
    refuse_old_name(sys.argv)
    if sys.argv[1:2] == ["help"] and len(sys.argv) > 3:
        sys.argv[1:] = [*sys.argv[2:], "--help"]  # Django's `help` knows commands of one word
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
    except DatabaseUnusable as error:
        sys.exit(str(error))
    except NO_ANSWER as error:
        sys.exit(f"{error_line(error)}. Run the command again when the database answers.")


if __name__ == "__main__":
    main()
