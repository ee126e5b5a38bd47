"""Updates the translations after texts have changed: `make messages`."""

import os
import sys

import django


def main() -> int:
    """1 if a language is not complete. It prints what is to translate."""
    django.setup()
    from lab.messages.update import missing, update  # noqa: PLC0415 - needs Django

    update()
    texts = missing()
    for text in texts:
        print(f"not translated: {text}")
    return 1 if texts else 0


if __name__ == "__main__":
    os.environ.setdefault("DEVELOPMENT", "1")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(main())
