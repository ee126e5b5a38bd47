"""The languages of a follow: codes such as `en`, `pt-BR` and `zh-Hant`."""

import re
from collections.abc import Iterable

from infra.api.errors import Fault, ValidationFailed
from relations.types import MOST_LANGUAGES

LANGUAGE_CODE = "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$"
LONGEST_LANGUAGE = 16  # as of a post
_IS_CODE = re.compile(LANGUAGE_CODE)


def check_languages(codes: Iterable[str]) -> tuple[str, ...]:
    """Each once, in the order given. Raises: ValidationFailed."""
    distinct = tuple(dict.fromkeys(codes))
    if len(distinct) > MOST_LANGUAGES:
        raise _refuse("ERR_TOO_LONG", f"are too many (maximum is {MOST_LANGUAGES})")
    for code in distinct:
        if len(code) > LONGEST_LANGUAGE or not _IS_CODE.fullmatch(code):
            raise _refuse("ERR_INCLUSION", "must be codes of languages")
    return distinct


def is_spoken(language: str | None, languages: Iterable[str]) -> bool:
    """Whether a post of this language is among them. `en` is also the language of `en-GB`; a post
    without a language is of each."""
    if language is None:
        return True
    code = language.lower()
    return any(
        code == spoken or code.split("-")[0] == spoken for spoken in map(str.lower, languages)
    )


def _refuse(code: str, text: str) -> ValidationFailed:
    return ValidationFailed([Fault("languages", code, text)])
