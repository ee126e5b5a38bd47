"""The templates of pages: all compile, escape each text, and show nothing for a missing value.

Compiled templates on disk.

The blur of a photo is a small picture with the colours of its blurhash.
"""

import base64
from io import BytesIO
from pathlib import Path
from types import CodeType

import numpy as np
import pytest
from django.conf import settings
from django.http import HttpResponse
from django.middleware.csrf import CSRF_SECRET_LENGTH, CsrfViewMiddleware
from django.template import engines
from django.test import RequestFactory
from django.utils.crypto import get_random_string
from django.utils.safestring import mark_safe
from jinja2 import Environment, FileSystemLoader, UndefinedError
from PIL import Image

from accounts.images.codec.encode import blurhash_of
from infra.languages import ENGLISH
from pages import compiled_templates as compiled
from pages import template_code
from pages.blurs import HEIGHT, WIDTH, blur
from pages.context import CsrfInput
from pages.template_code import escape, escape_text
from pages.template_environment import PageEnvironment, compile_templates, page_environment

EVIL = "<b title='\"'>&amp;</b>"


class _Html:
    def __html__(self) -> str:
        return "<i>"


@pytest.fixture
def environment() -> PageEnvironment:
    found: PageEnvironment = engines["jinja2"].env
    return found


def test_all_templates_compile_and_are_kept(environment: PageEnvironment) -> None:
    environment.cache.clear()
    environment.found.clear()
    compile_templates()
    assert len(environment.cache) == len(environment.list_templates()) > 80


@pytest.mark.parametrize(
    ("value", "escaped"),
    [
        (EVIL, escape_text(EVIL)),
        (mark_safe("<b>"), "<b>"),
        (_Html(), "<i>"),
        (12, "12"),
        ([EVIL], escape_text(str([EVIL]))),
        (None, "None"),
    ],
)
def test_texts_are_escaped_and_html_is_not(value: object, escaped: str) -> None:
    assert escape(value) == escaped


def test_templates_escape_in_all_places(environment: Environment) -> None:
    text = """{% macro m(x) %}{{ x }}{% endmacro %}{{ x }}{{ m(x) }}{{ x ~ x }}
{%- set y %}{{ x }}{% endset %}{{ y }}{% for one in [x] %}{{ one }}{% endfor %}"""
    assert environment.from_string(text).render(x=EVIL) == escape_text(EVIL) * 6


def test_templates_use_the_quick_way(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template_code, "escape", lambda value: "quick")
    assert environment.from_string("{{ x }}{{ y|default(2, true) }}").render(x=1) == "quickquick"


MACROS = """{% macro sum(a, b=2) %}{{ a }}+{{ b }};{% endmacro %}
{%- macro all() %}{{ varargs|join }}{{ kwargs.c }}{% endmacro %}
{%- macro around(a) %}<{{ a }}>{{ caller() }}{% endmacro %}"""


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("{{ sum(1) }}{{ sum(1, 3) }}{{ sum(b=x, a=1) }}", f"1+2;1+3;1+{escape_text(EVIL)};"),
        ("{{ all(1, 2, c=3) }}", "123"),
        ("{% call around(1) %}{{ x }}{% endcall %}", f"<1>{escape_text(EVIL)}"),
        ("{% call around(1) %}{{ sum(x.nothing) }}{% endcall %}", "<1>+2;"),
        ("{{ x.upper()[:3] }}{{ x.nothing.of.it }}", "&lt;B "),
    ],
)
def test_templates_call_macros_and_methods(environment: Environment, text: str, drawn: str) -> None:
    assert environment.from_string(MACROS + text).render(x=EVIL) == drawn


@pytest.mark.parametrize("text", ["{{ sum(1, c=2) }}", "{{ sum(1, 2, 3) }}", "{{ nothing() }}"])
def test_a_call_that_is_wrong_fails(environment: Environment, text: str) -> None:
    with pytest.raises((TypeError, UndefinedError)):
        environment.from_string(MACROS + text).render()


def test_parts_are_drawn_in_their_places(tmp_path: Path) -> None:
    parts = {
        "base": "<{% block a %}base{% endblock %}|{% block b %}{% endblock %}>",
        "page": "{% extends 'base' %}{% block a %}1{{ super() }}2{% endblock %}"
        "{% block b %}{% for n in (3, 4) %}{{ n }}{% include 'part' %}{% endfor %}{% endblock %}",
        "part": "({{ n }}{% include 'free' without context %})",
        "free": "[{{ n }}]",
    }
    for name, text in parts.items():
        (tmp_path / name).write_text(text)
    environment = page_environment(loader=FileSystemLoader(tmp_path), autoescape=True)
    assert environment.get_template("page").render() == "<1base2|3(3[])4(4[])>"


def test_forms_have_a_field_that_django_accepts() -> None:
    request = RequestFactory().get("/")
    request.META["CSRF_COOKIE"] = secret = get_random_string(CSRF_SECRET_LENGTH)
    fields = {str(escape(CsrfInput(request))) for _ in range(20)}
    assert len(fields) == 20  # another one in each answer
    for field in fields:
        accepting = CsrfViewMiddleware(lambda _: HttpResponse())
        token = field.partition('value="')[2].removesuffix('">')
        sent = RequestFactory().post("/", {"csrfmiddlewaretoken": token})
        sent.COOKIES[settings.CSRF_COOKIE_NAME] = secret
        accepting.process_request(sent)
        assert accepting.process_view(sent, lambda _: HttpResponse(), (), {}) is None


def test_what_is_missing_is_empty_and_a_value_comes_before_a_method(
    environment: Environment,
) -> None:
    text = (
        "{{ a }}{{ a.b.c }}{{ d.b.c }}{% if a.b %}x{% endif %}{{ d.items }}{{ d.keys is callable }}"
    )
    assert environment.from_string(text).render(d={"items": 7}) == "7True"


NAME = "page.html"


class Compiling:
    """How often templates were compiled, by environments like those of new processes."""

    def __init__(self, templates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._templates = templates
        compile_source = PageEnvironment._compile

        def count(environment: PageEnvironment, source: str, filename: str) -> CodeType:
            self.count += 1
            return compile_source(environment, source, filename)

        monkeypatch.setattr(PageEnvironment, "_compile", count)

    def write(self, source: str) -> None:
        (self._templates / NAME).write_text(source)

    def draw(self, language: str = ENGLISH) -> str:
        return str(self._environment(language).get_template(NAME).render())

    def _environment(self, language: str) -> Environment:
        loader = FileSystemLoader(self._templates)
        return page_environment(language, loader=loader, autoescape=True)


@pytest.fixture
def folder(tmp_path, settings):
    settings.RUNTIME_DIR = str(tmp_path / "run")
    return tmp_path / "run/templates"


@pytest.fixture
def compiling(tmp_path, monkeypatch, folder):
    made = Compiling(tmp_path, monkeypatch)
    made.write('{{ "home"|icon }} {{ _("Home") }}')
    return made


def test_the_next_process_compiles_nothing(compiling):
    first = compiling.draw()
    assert (compiling.draw(), compiling.count) == (first, 1)


def test_each_language_has_its_own(compiling):
    drawn = [compiling.draw(language) for language in ("en", "de", "en", "de")]
    assert drawn[:2] == drawn[2:]
    assert drawn[0].endswith("Home")
    assert drawn[1].endswith("Startseite")
    assert compiling.count == 2


def test_a_changed_template_is_compiled(compiling):
    compiling.draw()
    compiling.write("changed")
    assert (compiling.draw(), compiling.count) == ("changed", 2)


@pytest.mark.parametrize("name", compiled.COMPILED_BY)
def test_a_changed_compiler_compiles_all(compiling, monkeypatch, name):
    compiling.draw()
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path.name == name))
    compiling.draw()
    assert compiling.count == 2


def test_changed_translations_compile_all(compiling, monkeypatch):
    compiling.draw("de")
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path.suffix == ".mo"))
    compiling.draw("de")
    assert compiling.count == 2


def test_a_damaged_file_is_written_again(compiling, folder):
    drawn = compiling.draw()
    [file] = folder.iterdir()
    whole = file.read_bytes()
    cut, torn = whole[:-20], whole[:100] + bytes(len(whole) - 100)
    for damaged in (b"", whole[:20], cut, torn, b"x" * 90):
        file.write_bytes(damaged)
        assert compiling.draw() == drawn
        assert compiling.draw() == drawn
    assert compiling.count == 6


@pytest.mark.parametrize("others_may_write", [".", ".."])
def test_a_folder_that_others_may_write_is_not_used(compiling, folder, others_may_write):
    drawn = compiling.draw()
    (folder / others_may_write).chmod(0o777)
    assert (compiling.draw(), compiling.count) == (drawn, 2)


def test_without_a_folder_pages_are_drawn(compiling, folder):
    folder.parent.write_text("a file")
    assert compiling.draw() == compiling.draw()
    assert compiling.count == 2


def test_a_full_disk_costs_only_time(compiling, folder, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert compiling.draw() == compiling.draw()
    assert compiling.count == 2


TOP, FOOT = (200, 40, 40), (20, 60, 180)


def pixels_of(address: str) -> Image.Image:
    kind, _, data = address.partition(",")
    assert kind == "data:image/png;base64"
    return Image.open(BytesIO(base64.b64decode(data)))


def test_a_blur_has_the_colours_of_the_photo_at_their_places() -> None:
    photo = np.zeros((32, 32, 3), np.uint8)
    photo[:16], photo[16:] = TOP, FOOT
    shown = pixels_of(blur(blurhash_of(photo)))
    assert shown.size == (WIDTH, HEIGHT)
    for y, colour in ((0, TOP), (HEIGHT - 1, FOOT)):
        red, green, blue = shown.getpixel((WIDTH // 2, y))  # type: ignore[misc]
        assert (red > blue) is (colour == TOP), (y, red, green, blue)


@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (12, 200, 99)])
def test_a_plain_photo_has_a_plain_blur(colour: tuple[int, int, int]) -> None:
    photo = np.full((32, 32, 3), colour, np.uint8)
    shown = np.asarray(pixels_of(blur(blurhash_of(photo)))).astype(int)
    assert abs(shown - np.array(colour)).max() <= 24


def test_an_address_is_short() -> None:
    assert len(blur("LEHV6nWB2yk8pyo0adR*.7kCMdnj")) < 300
