"""The translations of one language, read from pages/locale/ as they are compiled."""

from collections.abc import Sequence
from functools import cache
from gettext import GNUTranslations, NullTranslations, translation
from pathlib import Path

from django.conf import settings

DOMAIN = "django"
# Numbers up to this one show all plural forms of a language.
_MOST_NUMBER = 200


class Catalog:
    """English has none: its texts are in the code."""

    def __init__(self, language: str) -> None:
        folder = Path(settings.LOCALE_PATHS[0])
        self._texts: NullTranslations = translation(DOMAIN, folder, [language], fallback=True)

    def text(self, english: str, context: str = "") -> str:
        return self._texts.pgettext(context, english) if context else self._texts.gettext(english)

    def forms(self, singular: str, plural: str) -> Sequence[str]:
        """The text for each plural form, by its index."""
        numbers: dict[int, int] = {}
        for number in range(_MOST_NUMBER):
            numbers.setdefault(self.plural_index(number), number)
        return [self._texts.ngettext(singular, plural, numbers[index]) for index in sorted(numbers)]

    def plural_index(self, number: int | None) -> int:
        """Which form a number has. Missing values, which are empty in templates, are as 0."""
        count = number if isinstance(number, int) else 0
        if isinstance(self._texts, GNUTranslations):
            return int(self._texts.plural(count))  # type: ignore[attr-defined]
        return int(count != 1)


@cache
def catalog_of(language: str) -> Catalog:
    return Catalog(language)
