"""The look of a product: a folder with static files and templates that take the place of ours.

`static/theme.css` sets the custom properties of page.css. Any other file below `static/` and
`templates/` replaces the one of Tideline with the same path. See
docs/how-to/make-the-pages-look-like-your-product.md.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static
from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PrefixLoader,
    TemplateError,
    TemplateSyntaxError,
)
from jinja2.loaders import BaseLoader
from jinja2.meta import find_referenced_templates
from jinja2.nodes import Block, Template

SHEET = "theme.css"
# `{% extends "tideline/pages/base.html" %}` is the template that a theme replaces.
ORIGINAL = "tideline"
# Templates of a theme that replace none: its own parts.
OWN_PARTS = "theme/"
OWN_TEMPLATES = Path(__file__).parent / "jinja2"
PAGE_SHEET = Path(__file__).parent / "static" / "pages" / "page.css"
_FOLDERS = {"static", "templates"}
_SET = re.compile(r"(?<![\w-])(--[\w-]+)\s*:")
_USED = re.compile(r"var\(\s*(--[\w-]+)")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def theme_folder() -> Path | None:
    return Path(settings.THEME_DIR) if settings.THEME_DIR else None


def theme_sheet() -> str:
    """The address of the theme's style sheet; empty without one."""
    folder = theme_folder()
    return static(SHEET) if folder and (folder / "static" / SHEET).is_file() else ""


def with_originals(loader: BaseLoader) -> BaseLoader:
    """A loader that also finds what a theme replaces."""
    if theme_folder() is None:
        return loader
    own = FileSystemLoader(OWN_TEMPLATES)
    return ChoiceLoader([loader, PrefixLoader({ORIGINAL: own})])


def check_theme(environment: Environment) -> None:
    """Raises: ImproperlyConfigured with all that is wrong with the theme. Else each page that uses
    a broken file would fail by itself.
    """
    folder = theme_folder()
    if folder is None:
        return
    faults = [*_folder_faults(folder), *_sheet_faults(folder), *_static_faults(folder)]
    for path in _files_of(folder / "templates"):
        faults += _template_faults(environment, path.relative_to(folder / "templates").as_posix())
    if faults:
        raise ImproperlyConfigured("\n".join(f"THEME_DIR: {fault}" for fault in faults))


def _folder_faults(folder: Path) -> Iterator[str]:
    names = {path.name for path in folder.iterdir() if path.is_dir() and path.name[0] != "."}
    if not names & _FOLDERS:
        yield f"{folder} has neither static/ nor templates/"
    for name in sorted(names - _FOLDERS):
        yield f"{name}/ is not used: a theme has static/ and templates/"


def _sheet_faults(folder: Path) -> Iterator[str]:
    """Misspelled properties, which browsers ignore."""
    path = folder / "static" / SHEET
    if not path.is_file():
        return
    try:
        sheet = _COMMENT.sub("", path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        yield f"static/{SHEET} is not UTF-8"
        return
    known = {*_SET.findall(PAGE_SHEET.read_text()), *_USED.findall(sheet)}
    for name in sorted({*_SET.findall(sheet)} - known):
        yield f"static/{SHEET}: the pages have no {name}"


def _static_faults(folder: Path) -> Iterator[str]:
    """In production the files are served from the folder of collectstatic."""
    if settings.STATIC_ROOT is None:
        return
    for path in _files_of(folder / "static"):
        name = path.relative_to(folder / "static")
        copy = Path(settings.STATIC_ROOT) / name
        if not copy.is_file() or copy.read_bytes() != path.read_bytes():
            yield f"static/{name} is not served yet: run collectstatic"


def _template_faults(environment: Environment, name: str) -> Iterator[str]:
    where = f"templates/{name}"
    if not (name.startswith(OWN_PARTS) or (OWN_TEMPLATES / name).is_file()):
        yield f"{where} replaces no template of Tideline (own parts are in templates/{OWN_PARTS})"
        return
    try:
        tree = _parse(environment, name)
        environment.get_template(name)
    except TemplateSyntaxError as error:
        yield f"{where}, line {error.lineno}: {error.message}"
        return
    except (TemplateError, UnicodeDecodeError) as error:
        yield f"{where}: {error}"
        return
    yield from (f"{where}: there is no template {other}" for other in _missing(environment, tree))
    yield from (
        f"{where}: the block {block} is missing" for block in _lost(environment, name, tree)
    )


def _missing(environment: Environment, tree: Template) -> Iterator[str]:
    known = {*environment.list_templates()}
    for name in find_referenced_templates(tree):
        if name is not None and name not in known:
            yield name


def _lost(environment: Environment, name: str, tree: Template) -> list[str]:
    """Blocks that other templates fill, and that this one no longer shows."""
    is_extended = f"{ORIGINAL}/{name}" in {*find_referenced_templates(tree)}
    if is_extended or name.startswith(OWN_PARTS):
        return []
    original = _parse(environment, f"{ORIGINAL}/{name}")
    return sorted(_blocks(original) - _blocks(tree))


def _blocks(tree: Template) -> set[str]:
    return {block.name for block in tree.find_all(Block)}


def _parse(environment: Environment, name: str) -> Template:
    loader: BaseLoader = environment.loader  # type: ignore[assignment]
    source, _, _ = loader.get_source(environment, name)
    return environment.parse(source, name)


def _files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
