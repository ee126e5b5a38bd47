"""The templates of pages: Jinja2, with the filters that they use.

See docs/explanation/decisions/0080-pages-are-drawn-by-jinja.md.
"""

import html
from types import CodeType
from typing import Any

from django.template import defaultfilters, engines
from django.templatetags.static import static
from jinja2 import ChainableUndefined, Environment, nodes

from infra.languages import ENGLISH
from infra.translations import catalog_of
from pages import template_filters
from pages.blurs import blur
from pages.compiled_templates import compiled_templates
from pages.refusals import refusal_text
from pages.template_backend import PageTemplates
from pages.theme import ORIGINAL, check_theme, theme_sheet, with_originals
from pages.translated_templates import PLURAL_INDEX, Translating
from pages.writing import writing_of

# As in Django's templates. Jinja's own filters of these names do something else, or are missing.
OF_DJANGO = ("date", "linebreaksbr", "truncatechars", "urlencode", "yesno")
OWN = (
    "effect_on", "field_time", "goes_on", "host", "icon", "is_new_day", "options", "percent_of",
    "plain", "rights", "replying_to", "shown_on", "translated", "trusted", "unseen_quote",
    "uses", "without_names",
)  # fmt: skip
WRITTEN = ("ago", "clock", "day", "field_moment", "moment", "named_day", "short")
# Loaded by page.js when they are used.
SCRIPTS = tuple(
    f"pages/{name}.js"
    for name in (
        "completion", "count", "describing", "drafts", "emoji/emoji", "keys", "picker", "preview",
        "reveal", "viewer", "written",
    )
)  # fmt: skip
# The last line of each compiled template.
_USE_QUICK_ESCAPE = f"\nfrom {__name__} import escape\n"


def escape(value: Any) -> str:
    """What templates escape values with. HTML is left as it is.

    markupsafe makes a new object of a class of its own for each value, which takes four times as
    long. A page has a thousand values.
    """
    kind = type(value)
    if kind is str:
        return html.escape(value)
    if kind is int:
        return str(value)
    return value.__html__() if hasattr(value, "__html__") else html.escape(str(value))


class PageEnvironment(Environment):
    """Jinja's, for entities of the API, which are dicts of texts, in one language."""

    catalog = catalog_of(ENGLISH)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Jinja asks a dict for an attribute before it looks into it, and that always fails."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Jinja's hook between the source of a template and its tree."""
        tree = super()._parse(source, name, filename)
        translated: nodes.Template = Translating(self.catalog).visit(tree)
        return translated

    def _compile(self, source: str, filename: str) -> CodeType:
        """Jinja's hook between the source of a template and its code."""
        return super()._compile(source + _USE_QUICK_ESCAPE, filename)


def compile_templates() -> None:
    """Compiles all templates that no process has compiled before. Else readers would wait for it
    in each process.

    Raises: ImproperlyConfigured if the theme has a fault.
    """
    templates: PageTemplates = engines["jinja2"]  # type: ignore[assignment]
    check_theme(templates.env)
    for environment in templates.environments():
        for name in environment.list_templates():
            # Originals are compiled if a template of the theme extends them.
            if not name.startswith(f"{ORIGINAL}/"):
                environment.get_template(name)


def page_environment(language: str = ENGLISH, **options: Any) -> PageEnvironment:
    """The environment of all templates in a language. What a template does not get is empty in it,
    also what would be inside. Blocks leave no empty lines."""
    options |= {"undefined": ChainableUndefined, "trim_blocks": True, "lstrip_blocks": True}
    options["loader"] = with_originals(options["loader"])
    options["bytecode_cache"] = compiled_templates(language)
    environment = PageEnvironment(**options, extensions=["jinja2.ext.i18n"])
    environment.policies["ext.i18n.trimmed"] = True
    environment.newstyle_gettext = True  # type: ignore[attr-defined]
    environment.catalog = catalog_of(language)
    environment.globals["language"] = language
    # Scripts have their English texts themselves.
    texts_script = "" if language == ENGLISH else f"pages/texts/{language}.js"
    environment.globals["texts_script"] = texts_script
    environment.globals[PLURAL_INDEX] = environment.catalog.plural_index
    environment.globals["theme_sheet"] = theme_sheet()
    environment.globals["static"] = static
    environment.filters |= {name: getattr(defaultfilters, name) for name in OF_DJANGO}
    environment.filters |= {name: getattr(template_filters, name) for name in OWN}
    writing = writing_of(language)
    environment.filters |= {name: getattr(writing, name) for name in WRITTEN}
    environment.filters |= {"blur": blur, "refusal_text": refusal_text}
    environment.globals["scripts"] = SCRIPTS
    return environment
