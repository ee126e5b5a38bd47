"""Renders the pages of a copied docs/ in place: `python -m lab.reference FOLDER`."""

import os
import sys
from pathlib import Path

import django


def main(folder: Path) -> None:
    django.setup()
    from lab.reference.pages import rendered  # noqa: PLC0415 - needs Django

    for page in sorted(folder.rglob("*.md")):
        written = page.read_text()
        if (text := rendered(written)) != written:
            page.write_text(text)


if __name__ == "__main__":
    os.environ.setdefault("DEVELOPMENT", "1")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main(Path(sys.argv[1]))
