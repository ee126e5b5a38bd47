"""Each text of the pages can be translated, and German is complete."""

import re
from typing import Any

import pytest
from django.utils.translation import override

from lab.messages.extract import ROOT
from lab.messages.update import is_translated, languages, missing, read_catalog
from pages.refusals import refusal_text
from tests import untranslated

PAGES = ROOT / "pages"
VALUE = re.compile(r"%\(\w+\)s|%s|\{\}")
TAG = re.compile(r"</?\w+[^>]*>")
# Python whose texts are for operators, and the table of refusals.
OF_OPERATORS = (
    "theme.py", "template_code.py", "template_environment.py", "refusals.py",
)  # fmt: skip
# Headers, parts of the world, patterns, HTML, columns of a CSV file that programs read.
OF_PROGRAMS = re.compile(
    r"[<^|]|form-data|octet-stream|no-store|read write"
    r"|^(Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/$"
    r"|^(Content|Accept|Cache|Retry|Clear)-"
    r"|^(Link|Location|Cookie|Lax|Web|Line|Result|Reason|Step)$"
)


def _messages(language: str) -> list[Any]:
    return [message for message in read_catalog(language) if message.id]


def _both(message: Any) -> list[tuple[str, str]]:
    """Each English text with its translations."""
    if isinstance(message.id, str):
        return [(message.id, message.string)]
    return [(message.id[min(n, 1)], text) for n, text in enumerate(message.string)]


def test_all_languages_are_complete() -> None:
    assert missing() == []


@pytest.mark.parametrize("language", languages())
def test_translations_have_the_same_values_and_tags(language: str) -> None:
    assert [fault for message in _messages(language) for fault in _differences(message)] == []


def _differences(message: Any) -> list[str]:
    return [
        f"{english} -> {text}"
        for english, text in _both(message)
        for pattern in (VALUE, TAG)
        if sorted(pattern.findall(english)) != sorted(pattern.findall(text))
        or ('"' in text and '"' not in english)
    ]


def test_no_template_has_a_text_outside_of_a_translation() -> None:
    found = {
        name: texts
        for name, source in untranslated.files(PAGES / "jinja2", ".html")
        if (texts := untranslated.of_template(source))
    }
    assert found == {}


def test_no_view_has_a_text_outside_of_a_translation() -> None:
    found = {
        name: texts
        for name, source in untranslated.files(PAGES, ".py")
        if not name.endswith(OF_OPERATORS)
        and (texts := [text for text in untranslated.of_python(source) if not _is_known(text)])
    }
    assert found == {}


def _is_known(text: str) -> bool:
    """For programs, or the text of a refusal, which a page translates when it shows it."""
    with override("de"):
        english = text.replace("{}", "3")
        return bool(OF_PROGRAMS.search(text)) or refusal_text(english) != english


def test_no_script_has_a_text_outside_of_a_translation() -> None:
    found = {
        name: texts
        for name, source in untranslated.files(PAGES / "static" / "pages", ".js")
        if not name.startswith(("htmx/", "emoji/", "texts/"))
        and (texts := untranslated.of_script(source))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>Hello</p>", ["Hello"]),
        ("<p>{{ name }} likes this</p>", ["\u00a7 likes this"]),
        ('<a title="More" href="/x">{{ _("More") }}</a>', ["title=More"]),
        ('<img alt="A photo of {{ name }}">', ["alt=A photo of \u00a7"]),
        ('{% if x %}<b aria-label="Open">·</b>{% endif %}', ["aria-label=Open"]),
        ('{% with empty="There is nothing" %}{{ empty }}{% endwith %}', ["There is nothing"]),
        ('{{ name|default("No name", true) }}', ["No name"]),
        ("<p>{% trans %}Hello {{ name }}{% endtrans %} · {{ count }}</p>", []),
        ('<a class="old" title="{{ _("More") }}" href="/old">+</a>', []),
    ],
)
def test_a_text_of_a_template_is_found(source: str, found: list[str]) -> None:
    assert untranslated.of_template(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('TITLE = "Public posts"', ["Public posts"]),
        ('TABS = {"": "All", "new": _("New here")}', ["All"]),
        ('def f():\n    """A sentence here."""\n    return "It was sent"', ["It was sent"]),
        ('TITLE = gettext("Public posts")\nPATH = "/api/v1/x"', []),
    ],
)
def test_a_text_of_a_view_is_found(source: str, found: list[str]) -> None:
    assert untranslated.of_python(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('say("Try again later.");', ["Try again later."]),
        ("x.innerHTML = `<button>Close</button>`;", ["<button>Close</button>"]),
        ('say(gettext("Try again later.")); /* "Not a text" */', []),
    ],
)
def test_a_text_of_a_script_is_found(source: str, found: list[str]) -> None:
    assert untranslated.of_script(source) == found


def test_a_missing_guessed_or_broken_translation_is_found() -> None:
    catalog = read_catalog("none")
    catalog.add("Hello %(name)s", "Hallo %(nmae)s")
    catalog.add("Save")
    catalog.add(("post", "posts"), ("Beitrag", ""))
    catalog.add("Open", "Auf", flags=["fuzzy"])
    found = {message.id: message for message in catalog if message.id}
    assert len(_differences(found["Hello %(name)s"])) == 1
    complete = {message.id for message in found.values() if is_translated(message)}
    assert complete == {"Hello %(name)s"}
