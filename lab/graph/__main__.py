"""`python -m lab.graph FILE`: loads a follow graph into the installation of the environment."""

import os
import sys

import django


def main() -> None:
    django.setup()
    from lab.graph.command import LoadGraph  # noqa: PLC0415 - needs Django

    LoadGraph().run_from_argv(["python -m", "lab.graph", *sys.argv[1:]])


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main()
