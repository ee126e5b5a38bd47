"""Writes the generated modules of the client: `make client`. Cost: 10 s."""

import os
import sys

import django


def main() -> int:
    django.setup()
    from lab.client.generate import FOLDER, generated_modules  # noqa: PLC0415 - needs Django

    for name, text in generated_modules().items():
        (FOLDER / name).write_text(text)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("DEVELOPMENT", "1")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(main())
