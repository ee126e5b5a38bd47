"""Finds all texts that people read: in templates, in Python and in scripts."""

from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from django.conf import settings
from django.utils.translation.template import templatize
from jinja2.ext import babel_extract

ROOT = Path(settings.BASE_DIR)
# What speaks to people. The admin and the API are in English.
FOLDERS = ("accounts", "moderation", "notifications", "pages")
KEYWORDS: Any = {**DEFAULT_KEYWORDS, "gettext_lazy": None, "gettext_noop": None}
COMMENTS = ("Translators:",)
SCRIPTS = {"parse_template_string": "true"}
JINJA = {"trimmed": "true", "newstyle_gettext": "true", "silent": "false"}


def find_texts() -> Catalog:
    """All texts with the files that have them, as a catalog without translations."""
    texts = Catalog(charset="utf-8")
    for name, (_, text, comments, context) in _iter_found():
        texts.add(text, locations=[(name, 0)], auto_comments=comments, context=context)
    return texts


def _iter_found() -> Iterator[tuple[str, Any]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if find := _extractor_of(path):
                name = path.relative_to(ROOT).as_posix()
                for line in extract(find, _read(path), KEYWORDS, COMMENTS, _options(find)):
                    yield name, line


def _extractor_of(path: Path) -> str | Callable[..., Any]:
    if "migrations" in path.parts or ("texts" in path.parts and path.suffix == ".js"):
        return ""
    if path.suffix == ".html" and "jinja2" in path.parts:
        return babel_extract
    # Mails are Django's templates, which templatize turns into Python.
    return {".py": "python", ".txt": "python", ".js": "javascript"}.get(path.suffix, "")


def _options(find: str | Callable[..., Any]) -> dict[str, Any]:
    return {**SCRIPTS} if isinstance(find, str) else {**JINJA}


def _read(path: Path) -> BytesIO:
    if path.suffix != ".txt":
        return BytesIO(path.read_bytes())
    source = path.read_text() if "templates" in path.parts else ""
    return BytesIO(templatize(source).encode())


def script_texts(catalog: Catalog) -> Sequence[Any]:
    """The messages that scripts show."""
    return [
        message
        for message in catalog
        if message.id and any(name.endswith(".js") for name, _ in message.locations)
    ]
