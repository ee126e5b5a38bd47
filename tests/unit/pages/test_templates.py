"""The templates of pages: all compile, escape each text, and show nothing for a missing value."""

from html import escape as escape_text

import pytest
from django.template import engines
from django.utils.safestring import mark_safe
from jinja2 import Environment

from pages import template_environment
from pages.template_environment import compile_templates, escape

EVIL = "<b title='\"'>&amp;</b>"


class _Html:
    def __html__(self) -> str:
        return "<i>"


@pytest.fixture
def environment() -> Environment:
    found: Environment = engines["jinja2"].env
    return found


def test_all_templates_compile_and_are_kept(environment: Environment) -> None:
    environment.cache.clear()
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
    monkeypatch.setattr(template_environment, "escape", lambda value: "quick")
    assert environment.from_string("{{ x }}{{ y|default('', true) }}").render(x=1) == "quickquick"


def test_what_is_missing_is_empty_and_a_value_comes_before_a_method(
    environment: Environment,
) -> None:
    text = (
        "{{ a }}{{ a.b.c }}{{ d.b.c }}{% if a.b %}x{% endif %}{{ d.items }}{{ d.keys is callable }}"
    )
    assert environment.from_string(text).render(d={"items": 7}) == "7True"
