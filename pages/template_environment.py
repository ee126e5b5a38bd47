"""The templates of pages: Jinja2, with the filters that they use.

See docs/explanation/decisions/0080-pages-are-drawn-by-jinja.md.
"""

import html
from types import CodeType
from typing import Any

from django.template import defaultfilters, engines
from django.templatetags.static import static
from jinja2 import ChainableUndefined, Environment

from pages import template_filters
from pages.blurs import blur
from pages.theme import ORIGINAL, check_theme, theme_sheet, with_originals

# As in Django's templates. Jinja's own filters of these names do something else, or are missing.
OF_DJANGO = ("date", "linebreaksbr", "pluralize", "truncatechars", "urlencode", "yesno")
OWN = (
    "ago", "day", "effect_on", "field_time", "host", "icon", "moment", "options", "percent_of",
    "plain", "rights", "replying_to", "short", "shown_on", "trusted", "without_names",
)  # fmt: skip
# Loaded by page.js when they are used.
SCRIPTS = tuple(
    f"pages/{name}.js"
    for name in (
        "completion", "count", "describing", "drafts", "emoji/emoji", "keys", "picker", "preview",
        "viewer",
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
    """Jinja's, for entities of the API, which are dicts of texts."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Jinja asks a dict for an attribute before it looks into it, and that always fails."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def _compile(self, source: str, filename: str) -> CodeType:
        """Jinja's hook between the source of a template and its code."""
        return super()._compile(source + _USE_QUICK_ESCAPE, filename)


def compile_templates() -> None:
    """Compiles all templates, which takes 0.3 s. Else readers would wait for it in each process.

    Raises: ImproperlyConfigured if the theme has a fault.
    """
    environment: Environment = engines["jinja2"].env  # type: ignore[attr-defined]
    check_theme(environment)
    for name in environment.list_templates():
        # Originals are compiled if a template of the theme extends them.
        if not name.startswith(f"{ORIGINAL}/"):
            environment.get_template(name)


def page_environment(**options: Any) -> PageEnvironment:
    """The environment of all templates. What a template does not get is empty in it, also what
    would be inside. Blocks leave no empty lines."""
    options |= {"undefined": ChainableUndefined, "trim_blocks": True, "lstrip_blocks": True}
    options["loader"] = with_originals(options["loader"])
    environment = PageEnvironment(**options)
    environment.globals["theme_sheet"] = theme_sheet()
    environment.globals["static"] = static
    environment.filters |= {name: getattr(defaultfilters, name) for name in OF_DJANGO}
    environment.filters |= {name: getattr(template_filters, name) for name in OWN}
    environment.filters["blur"] = blur
    environment.globals["scripts"] = SCRIPTS
    return environment
