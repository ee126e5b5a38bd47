"""Fixed-width base 36: sorts as text in the order of its numbers. Digits 0-9, then a-z."""

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def encode(number: int, width: int) -> str:
    """`number` in exactly `width` digits. Raises OverflowError when it does not fit."""
    if not 0 <= number < 36**width:
        raise OverflowError(f"{number} does not fit in {width} base36 digits")
    digits = []
    for _ in range(width):
        number, digit = divmod(number, 36)
        digits.append(DIGITS[digit])
    return "".join(reversed(digits))


def decode(text: str) -> int:
    """The number. Raises ValueError unless all characters are lower-case base 36 digits."""
    if not (text.isascii() and text.isalnum() and text == text.lower()):
        raise ValueError(f"{text!r} is not base36")
    return int(text, 36)
