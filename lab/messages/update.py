"""The catalogs of all languages, what programs read of them, and the texts of scripts."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings

from infra.languages import ENGLISH
from lab.messages.extract import ROOT, find_texts, script_texts

WIDTH = 110
# The same each time, so that files change with texts only.
WRITTEN = datetime(2026, 11, 28, tzinfo=UTC)


def messages() -> dict[Path, bytes]:
    """The files of all languages, with new texts and without old ones. Translations stay."""
    texts = find_texts()
    files: dict[Path, bytes] = {}
    for language in languages():
        files |= contents(language, texts)
    return files


def languages() -> list[str]:
    return [code for code, _ in settings.LANGUAGES if code != ENGLISH]


def contents(language: str, texts: Catalog) -> dict[Path, bytes]:
    """What the files of a language have to contain, by their paths."""
    catalog = read_catalog(language)
    catalog.update(texts, no_fuzzy_matching=True, update_header_comment=False)
    catalog.obsolete.clear()
    catalog.creation_date = catalog.revision_date = WRITTEN
    for message in catalog:
        message.locations = sorted({*message.locations})
    compiled = BytesIO()
    write_mo(compiled, catalog)
    return {
        po_path(language): _as_po(catalog),
        po_path(language).with_suffix(".mo"): compiled.getvalue(),
        ROOT / f"pages/static/pages/texts/{language}.js": _as_script(catalog),
    }


def read_catalog(language: str) -> Catalog:
    """An empty one for a new language."""
    path = po_path(language)
    if not path.is_file():
        return Catalog(locale=language, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language)


def po_path(language: str) -> Path:
    return ROOT / "pages/locale" / language / "LC_MESSAGES" / "django.po"


def missing() -> list[str]:
    """The texts without a translation, each with its language."""
    return [
        f"{language}: {message.id}"
        for language in languages()
        for message in read_catalog(language)
        if message.id and not is_translated(message)
    ]


def is_translated(message: Any) -> bool:
    """Whether each of its forms has a text, and no program guessed it."""
    forms = [message.string] if isinstance(message.string, str) else message.string or []
    return all(forms) and bool(forms) and not message.fuzzy


def _as_po(catalog: Catalog) -> bytes:
    """Without lines and times, which would change when no text does."""
    written = BytesIO()
    write_po(written, catalog, width=WIDTH, sort_output=True, include_lineno=False)
    lines = written.getvalue().decode().splitlines(keepends=True)
    return "".join(line for line in lines if not _is_of_moment(line)).encode()


def _is_of_moment(line: str) -> bool:
    return line.startswith(('"POT-Creation-Date', '"PO-Revision-Date', "# FIRST AUTHOR"))


def _as_script(catalog: Catalog) -> bytes:
    texts = dict(_iter_script_texts(catalog))
    table = json.dumps(texts, ensure_ascii=False, indent=0, sort_keys=True)
    return (
        "/* Written by make accept. The texts of scripts, and which form a number has. */\n"
        f"globalThis.TEXTS = {table};\n"
        f"globalThis.PLURAL = (n) => Number{catalog.plural_expr};\n"
    ).encode()


def _iter_script_texts(catalog: Catalog) -> Iterator[tuple[str, Any]]:
    for message in script_texts(catalog):
        if is_translated(message):
            english = message.id if isinstance(message.id, str) else message.id[0]
            yield english, message.string
