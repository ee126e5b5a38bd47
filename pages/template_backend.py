"""Django's engine of the pages: one of Jinja for each language.

A template is compiled once for each language, with its texts in place (translated_templates.py). So
a page in another language is drawn as quickly as an English one.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.template.backends.jinja2 import Jinja2, Template
from jinja2 import Environment

from infra.languages import ENGLISH, page_language


class PageTemplates(Jinja2):
    """`env`: the English one. Themes are checked with it."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        super().__init__(_in_language(params, ENGLISH))
        self._engines = {
            language: Jinja2(_in_language(params, language)) for language, _ in settings.LANGUAGES
        }
        self._engines[ENGLISH] = self

    def get_template(self, template_name: str) -> Template:
        """In the language of the page. Raises: TemplateDoesNotExist, TemplateSyntaxError."""
        engine = self._engines[page_language()]
        return (
            super().get_template(template_name)
            if engine is self
            else engine.get_template(template_name)
        )

    def environments(self) -> Iterator[Environment]:
        for engine in self._engines.values():
            yield engine.env


def _in_language(params: Mapping[str, Any], language: str) -> dict[str, Any]:
    return {**params, "OPTIONS": {**params["OPTIONS"], "language": language}}
