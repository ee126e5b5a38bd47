"""Whether names resemble a text with a typing error, after an index found candidates."""

import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher

# Two words of five letters with one different letter have 0.8.
LEAST_RATIO = 0.7


def fold_name(text: str) -> str:
    """The text without capitals, accents and widths. About as accounts_fold in the database."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign)).lower()


def resemble(text: str, words: Sequence[str]) -> bool:
    """Whether each word of the text is part of one of the words, or nearly equal to one."""
    return all(_is_like_any(wanted, words) for wanted in fold_name(text).replace("@", " ").split())


def _is_like_any(wanted: str, words: Sequence[str]) -> bool:
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    for word in words:
        if wanted in word:
            return True
        matcher.set_seq1(word)
        if matcher.real_quick_ratio() >= LEAST_RATIO and matcher.ratio() >= LEAST_RATIO:
            return True
    return False
