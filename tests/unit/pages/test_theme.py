"""A theme's files take the place of ours, and its faults are found before the server begins."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import RequestFactory
from jinja2 import Environment, FileSystemLoader
from pytest_django import Settings

from config.django_settings import templates, theme_folders
from pages.template_environment import page_environment
from pages.theme import OWN_TEMPLATES, check_theme
from tests.themes import make_theme

Make = Callable[..., Environment]


@pytest.fixture
def environment(settings: Settings, tmp_path: Path) -> Make:
    """The environment with a theme of these files more."""

    def make(**files: str) -> Environment:
        make_theme(tmp_path, **files)
        settings.THEME_DIR = str(tmp_path)
        folders = [*theme_folders(str(tmp_path), "templates"), OWN_TEMPLATES]
        return page_environment(loader=FileSystemLoader(folders), autoescape=True)

    return make


def faults(environment: Environment) -> str:
    with pytest.raises(ImproperlyConfigured) as raised:
        check_theme(environment)
    return str(raised.value)


def test_a_good_theme_has_no_faults(environment: Make) -> None:
    made = environment()
    check_theme(made)
    page = made.get_template("pages/locked_out.html").render(
        site="Harbour", request=RequestFactory().get("/")
    )
    assert "Part of Harbour" in page and "Data protection" in page and "Too many" in page
    assert '<link rel="stylesheet" href="/static/theme.css">' in page
    assert page.index("page.css") < page.index("theme.css")


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("templates/pages/acount.html", "", "templates/pages/acount.html replaces no template"),
        ("templates/pages/about.html", "a\n{% if %}", "templates/pages/about.html, line 2: "),
        ("templates/pages/about.html", "{{ x|nonsense }}", "No filter named 'nonsense'"),
        (
            "templates/pages/about.html",
            '{% include "pages/parts/nonsense.html" %}',
            "there is no template pages/parts/nonsense.html",
        ),
        ("templates/pages/base.html", "<p>hello", "the block content is missing"),
        ("static/theme.css", ":root { --tyde: red }", "theme.css: the pages have no --tyde"),
        ("template/pages/about.html", "", "template/ is not used"),
    ],
)
def test_a_fault_is_named_with_its_place(
    environment: Make, name: str, content: str, fault: str
) -> None:
    assert fault in faults(environment(**{name: content}))


def test_a_sheet_of_another_encoding_is_named(environment: Make, tmp_path: Path) -> None:
    made = environment()
    (tmp_path / "static/theme.css").write_bytes(b":root { --tide: red } /* \xe9 */")
    assert "static/theme.css is not UTF-8" in faults(made)


def test_all_faults_are_named_at_once(environment: Make) -> None:
    files = {"templates/pages/nope.html": "", "static/theme.css": ":root{--a:1;--b:2}"}
    assert faults(environment(**files)).count("THEME_DIR: ") == 3


def test_a_text_that_is_no_text(environment: Make, tmp_path: Path) -> None:
    made = environment()
    (tmp_path / "templates/pages/about.html").write_bytes(b"\xff\xfe")
    assert "templates/pages/about.html" in faults(made)


def test_files_that_were_not_collected_are_named(
    environment: Make, settings: Settings, tmp_path: Path
) -> None:
    served = tmp_path / "collected"
    made = environment()
    settings.STATIC_ROOT = served
    assert "static/theme.css is not served yet: run collectstatic" in faults(made)
    served.mkdir()
    for path in (tmp_path / "static").rglob("*.*"):
        copy = served / path.relative_to(tmp_path / "static")
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())
    served.rename(tmp_path.parent / f"{tmp_path.name}-served")
    settings.STATIC_ROOT = tmp_path.parent / f"{tmp_path.name}-served"
    check_theme(made)


def test_an_empty_folder_is_no_theme(settings: Settings, tmp_path: Path) -> None:
    settings.THEME_DIR = str(tmp_path)
    loader = FileSystemLoader(OWN_TEMPLATES)
    assert "neither static/ nor templates/" in faults(page_environment(loader=loader))


def test_without_a_theme_nothing_is_asked(settings: Settings) -> None:
    made = page_environment(loader=FileSystemLoader(OWN_TEMPLATES))
    check_theme(made)
    request = RequestFactory().get("/")
    assert "theme.css" not in made.get_template("pages/locked_out.html").render(request=request)
    assert templates([])[0]["DIRS"] == []


def test_every_token_of_the_how_to_is_one_of_the_pages() -> None:
    root = OWN_TEMPLATES.parent.parent
    guide = (root / "docs/how-to/make-the-pages-look-like-your-product.md").read_text()
    sheet = (OWN_TEMPLATES.parent / "static/pages/page.css").read_text()
    table = [line for line in guide.splitlines() if line.startswith("| `--")]
    named = {token for line in table for token in line.split("|")[1].replace("`", "").split(", ")}
    assert len(named) > 15
    for token in (one.strip() for one in named):
        assert f"{token}:" in sheet, token
