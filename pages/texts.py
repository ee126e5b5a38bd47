"""Texts of tables and classes, translated when a page shows them."""

from django.utils.translation import gettext_lazy


def later(english: str) -> str:
    """What is put into a page in the language of that page. Modules import it as `_`."""
    text: str = gettext_lazy(english)  # type: ignore[assignment]
    return text
