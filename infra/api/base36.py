"""Fixed-width base 36: sorts as text in the order of its numbers. Digits 0-9, then a-z."""

from itertools import product

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_PAIRS = ["".join(pair) for pair in product(DIGITS, repeat=2)]


def encode(number: int, width: int) -> str:
    """`number` in exactly `width` digits. Raises OverflowError when it does not fit."""
    if not 0 <= number < 36**width:
        raise OverflowError(f"{number} does not fit in {width} base36 digits")
    text = ""
    for _ in range(0, width, 2):
        number, pair = divmod(number, 1296)
        text = _PAIRS[pair] + text
    return text[-width:]


def decode(text: str) -> int:
    """The number. Raises ValueError unless all characters are lower-case base 36 digits."""
    if not (text.isascii() and text.isalnum() and text == text.lower()):
        raise ValueError(f"{text!r} is not base36")
    return int(text, 36)
