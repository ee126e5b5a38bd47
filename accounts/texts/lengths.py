"""How long a text is for the people who read it, and how long for the machines that keep it."""

import regex

# One character of people, such as a flag or a family, has at most so many code points and bytes on
# average. They bound a text of marks that has few characters and no end.
CODE_POINTS_EACH, BYTES_EACH = 10, 32
_CLUSTER = regex.compile(r"\X")


def count_graphemes(text: str) -> int:
    """How many characters people see: Unicode's grapheme clusters. CRLF is one of them."""
    if text.isascii():
        return len(text) - text.count("\r\n")
    return sum(1 for _ in _CLUSTER.finditer(text))


def is_heavy(text: str, most: int) -> bool:
    """Whether the text is too much to keep for one of at most `most` characters."""
    return len(text) > most * CODE_POINTS_EACH or len(text.encode()) > most * BYTES_EACH


def is_longer(text: str, most: int) -> bool:
    """Whether the text has more than `most` characters, or is too heavy. Cost: bounded by `most`.

    The page's script counts in the same way (pages/static/pages/count.js).
    """
    return is_heavy(text, most) or count_graphemes(text) > most
