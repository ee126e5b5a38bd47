"""The languages that people can choose for pages, mails and messages. The API speaks English.

And the codes of all languages, which posts have: `en`, `pt-BR`, `zh-Hant`.
"""

import re
from functools import lru_cache

from django.conf import settings
from django.utils.translation import get_language
from django.utils.translation.trans_real import parse_accept_lang_header

ENGLISH = "en"
LONGEST_LANGUAGE = 16
LANGUAGE_CODE = "[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*"
_IS_CODE = re.compile(LANGUAGE_CODE)
_MOST_HEADERS = 256


def find_language_code(text: str) -> str | None:
    """The code as it is kept: with hyphens, also of a locale such as `pt_BR`. None: it is none."""
    is_code = len(text) <= LONGEST_LANGUAGE and _IS_CODE.fullmatch(text)
    return text.replace("_", "-") if is_code else None


def is_language(code: str) -> bool:
    return code in _codes()


def language_or_default(code: str) -> str:
    """The language itself, or that of the site if it is none of ours or empty."""
    return code if is_language(code) else settings.SITE_LANGUAGE


def page_language() -> str:
    """The language that is active here: English outside of pages, mails and messages."""
    code = get_language() or ENGLISH
    return code if is_language(code) else ENGLISH


def browser_language(accepted: str) -> str:
    """The first of our languages in an Accept-Language header. Empty: none."""
    return _browser_language(accepted[:256])


@lru_cache(_MOST_HEADERS)
def _browser_language(accepted: str) -> str:
    for code, _ in parse_accept_lang_header(accepted.lower()):
        if is_language(short := code.partition("-")[0]):
            return short
    return ""


def _codes() -> frozenset[str]:
    return frozenset(code for code, _ in settings.LANGUAGES)
