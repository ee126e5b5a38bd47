"""Loads Django for `manage.py prepare_run`: python -m config.runner.prepare FILE_DESCRIPTOR.

Unlike manage.py it says that it loads, and says faults of the environment without a traceback.
"""

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
    call_command("prepare_run", sys.argv[1])


if __name__ == "__main__":
    main()
