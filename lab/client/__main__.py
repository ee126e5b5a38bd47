"""Writes the npm package of the client in .dist: a part of `make wheels`. Without a server."""

import os

import django

from lab.runner.child import CHECKOUT

FOLDER = CHECKOUT / ".dist/tideline-client-npm"


def main() -> None:
    django.setup()
    from lab.accept.facts import openapi_document  # noqa: PLC0415 - needs Django
    from lab.client.npm import write_package  # noqa: PLC0415

    write_package(openapi_document(), FOLDER)
    print(f"wrote {FOLDER.relative_to(CHECKOUT)}")


if __name__ == "__main__":
    os.environ.setdefault("DEVELOPMENT", "1")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main()
