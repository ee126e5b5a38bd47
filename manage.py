#!/usr/bin/env python
"""Django's command line for Tideline. docs/reference/commands describes every command."""

import os
import sys

from django.core.management import execute_from_command_line

from infra.sharding.errors import NO_ANSWER, DatabaseUnusable
from infra.sharding.probe import error_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
    except DatabaseUnusable as error:
        sys.exit(str(error))
    except NO_ANSWER as error:
        sys.exit(f"{error_line(error)}. Run the command again when the database answers.")


if __name__ == "__main__":
    main()
