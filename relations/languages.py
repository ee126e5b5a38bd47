"""The languages of a follow: codes such as `en`, `pt-BR` and `zh-Hant`."""

from collections.abc import Iterable

from infra.api.errors import Fault, ValidationFailed
from infra.languages import find_language_code
from relations.types import MOST_LANGUAGES


def check_languages(codes: Iterable[str]) -> tuple[str, ...]:
    """Each once, in the order given. Raises: ValidationFailed."""
    distinct = tuple(dict.fromkeys(map(find_language_code, codes)))
    if len(distinct) > MOST_LANGUAGES:
        raise _refuse("ERR_TOO_LONG", f"are too many (maximum is {MOST_LANGUAGES})")
    known = tuple(code for code in distinct if code is not None)
    if len(known) < len(distinct):
        raise _refuse("ERR_INCLUSION", "must be codes of languages")
    return known


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
