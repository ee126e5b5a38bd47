"""The templates of pages: Jinja2, with the filters that they use.

See docs/explanation/decisions/0080-pages-are-drawn-by-jinja.md.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from types import CodeType
from typing import Any

from django.conf import settings
from django.template import defaultfilters, engines
from django.template.backends.jinja2 import Jinja2
from django.template.backends.jinja2 import Template as PageTemplate
from django.templatetags.static import static
from django.utils.functional import cached_property
from jinja2 import ChainableUndefined, Environment, Template, nodes

from infra.languages import ENGLISH, page_language
from infra.translations import catalog_of
from pages import template_filters
from pages.blurs import blur
from pages.compiled_templates import compiled_templates
from pages.reactions import in_language, reactions_on
from pages.refusals import refusal_text
from pages.template_code import USE_THESE, JoinedCode, PageContext
from pages.theme import ORIGINAL, check_theme, theme_sheet, with_originals
from pages.translated_templates import PLURAL_INDEX, Translating
from pages.writing import writing_of
from posts.queries.reactions import list_known_reactions

# As in Django's templates. Jinja's own filters of these names do something else, or are missing.
OF_DJANGO = ("date", "linebreaksbr", "truncatechars", "urlencode", "yesno")
OWN = (
    "effect_on", "field_time", "goes_on", "host", "icon", "is_new_day", "kind_word", "options",
    "percent_of", "plain", "rights", "replying_to", "shown_on", "translated", "trusted",
    "unseen_quote", "uses", "without_names",
)  # fmt: skip
WRITTEN = ("ago", "clock", "day", "field_moment", "left", "moment", "named_day", "short")
# Loaded by page.js when they are used.
SCRIPTS = tuple(
    f"pages/{name}.js"
    for name in (
        "completion", "count", "describing", "drafts", "emoji/emoji", "keys", "picker", "preview",
        "reveal", "sheet", "viewer", "written",
    )
)  # fmt: skip


class PageEnvironment(Environment):
    """Jinja's, for entities of the API, which are dicts of texts, in one language."""

    catalog = catalog_of(ENGLISH)
    code_generator_class, context_class = JoinedCode, PageContext

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.found: dict[str, Template] = {}

    def get_template(
        self,
        name: str | Template,
        parent: str | None = None,
        globals: MutableMapping[str, Any] | None = None,
    ) -> Template:
        """Jinja looks at more than the name each time, for twenty parts of a page."""
        if self.auto_reload or globals or isinstance(name, Template):
            return super().get_template(name, parent, globals)
        if name not in self.found:
            self.found[name] = super().get_template(name, parent)
        return self.found[name]

    def getattr(self, obj: Any, attribute: str) -> Any:
        """What compiled templates do not find in place. Most often it is not there, and Jinja would
        make a new object each time."""
        if obj is None or obj is self._nothing:
            return self._nothing
        if type(obj) is dict and not hasattr(dict, attribute):
            return obj.get(attribute, self._nothing)
        return super().getattr(obj, attribute)

    @cached_property
    def _nothing(self) -> ChainableUndefined:
        return ChainableUndefined(name="a part of an entity")

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Jinja's hook between the source of a template and its tree."""
        tree = super()._parse(source, name, filename)
        translated: nodes.Template = Translating(self.catalog).visit(tree)
        return translated

    def _compile(self, source: str, filename: str) -> CodeType:
        """Jinja's hook between the source of a template and its code."""
        return super()._compile(source + USE_THESE, filename)


class PageTemplates(Jinja2):
    """Django's engine of the pages: one of Jinja for each language.

    A template is compiled once for each language, with its texts in place. So a page in another
    language is drawn as quickly as an English one. `env`: the English one. Themes are checked with
    it.
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        super().__init__(_in_language(params, ENGLISH))
        self._engines = {
            language: Jinja2(_in_language(params, language)) for language, _ in settings.LANGUAGES
        }
        self._engines[ENGLISH] = self

    def get_template(self, template_name: str) -> PageTemplate:
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
    environment.globals["static"] = cache(static)
    environment.filters |= {name: getattr(defaultfilters, name) for name in OF_DJANGO}
    environment.filters |= {name: getattr(template_filters, name) for name in OWN}
    writing = writing_of(language)
    environment.filters |= {name: getattr(writing, name) for name in WRITTEN}
    environment.filters |= {"blur": blur, "refusal_text": refusal_text}
    environment.filters |= {"reactions_on": reactions_on, "in_language": in_language}
    environment.globals["declared_reactions"] = list_known_reactions
    environment.globals["scripts"] = SCRIPTS
    return environment
