"""The front: python -m web.front. It serves the tenants, and passes the rest to the installation.

SIGTERM ends it and the processes of the tenants.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from importlib import import_module

import django
from django.core.exceptions import ImproperlyConfigured


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    options = _options()
    try:
        django.setup()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    import_module("web.front.serve").serve(options)  # its models need the setup


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m web.front", description="Serves several tenants.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument(
        "--web", type=_address, default="127.0.0.1:8000", help="the installation's web server"
    )
    parser.add_argument(
        "--streaming", type=_address, default="127.0.0.1:4000", help="its streaming process"
    )
    parser.add_argument(
        "--workers", type=int, default=1, help="web processes of each tenant; one per core"
    )
    return parser.parse_args()


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


if __name__ == "__main__":
    main()
