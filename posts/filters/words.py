"""Words of all scripts, for texts that are compared: folded, and with signs at the edges of words.

A word is what Unicode says (UTS 18): letters, marks, digits, connectors and joiners, which is `\\w`
of the module regex. Python's own `\\w` has no marks, and cuts the words of half of the world.
"""

import unicodedata

import regex

EDGE = "\x00"  # no text of people has it
_JOINED = "\x08"
_WORD, _MARK = regex.compile(r"\w"), regex.compile(r"\p{M}")
# Scripts without blanks between words: Thai and Lao, Burmese, Hangul (its words have endings),
# Khmer, kana and Han. Each of their characters has edges, with the marks that belong to it.
_UNSPACED = regex.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u31ff\u3400-\u9fff"
    r"\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]"
)
MOST_KNOWN = 10_000


class _Edges(dict[int, str]):
    """By character: itself with its edges. A letter has none: a word has them around it."""

    def __missing__(self, code_point: int) -> str:
        text = _with_edges(chr(code_point))
        if len(self) < MOST_KNOWN:
            self[code_point] = text
        return text


_edges = _Edges()


def fold(text: str) -> str:
    """The form in which texts are the same without capitals, widths and spellings of accents."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def mark_edges(folded: str) -> str:
    """The text with EDGE before and after each word, and around every sign between words.

    A whole word is in a text if and only if its marked form is in the marked text.
    """
    marked = f"{EDGE}{folded.translate(_edges)}{EDGE}"
    return marked.replace(EDGE + _JOINED, "").replace(_JOINED, "")


def _with_edges(sign: str) -> str:
    if sign in (EDGE, _JOINED):
        return EDGE
    if not _UNSPACED.match(sign):
        return sign if _WORD.match(sign) else f"{EDGE}{sign}{EDGE}"
    before = _JOINED if _MARK.match(sign) else EDGE
    return f"{before}{sign}{EDGE}"
