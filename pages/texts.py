"""Texts of tables and classes, translated when a page shows them."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy

from infra.languages import page_language


def later(english: str) -> str:
    """What is put into a page in the language of that page. Modules import it as `_`."""
    text: str = gettext_lazy(english)  # type: ignore[assignment]
    return text


class Choices(dict[str, str]):
    """What a form offers: values with names of `later`."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(names)
        self._by_language: dict[str, dict[str, str]] = {}

    def written(self) -> dict[str, str]:
        """In the language of the page. Kept: to look a text up takes as long as to draw a row."""
        language = page_language()
        if language not in self._by_language:
            self._by_language[language] = {value: str(name) for value, name in self.items()}
        return self._by_language[language]
