"""Numbers as people type and read them: 100M, 2.5k."""

from argparse import ArgumentTypeError

_UNITS = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def parse_amount(text: str) -> float:
    """A number that is not negative, with or without one of k, M, G and T. For argparse."""
    number, unit = (text[:-1], _UNITS[text[-1]]) if text[-1:] in _UNITS else (text, 1.0)
    try:
        amount = float(number) * unit
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number like 250, 2.5k or 100M") from None
    # "nan" and "inf" are numbers for Python.
    if not 0 <= amount <= 1e15:
        raise ArgumentTypeError(f"{text!r} is not between 0 and 1,000T")
    return amount


def parse_share(text: str) -> float:
    """A number from 0 to 1. For argparse."""
    share = parse_amount(text)
    if share > 1:
        raise ArgumentTypeError(f"{text!r} is not between 0 and 1")
    return share


def parse_positive(text: str) -> float:
    """As `parse_amount`, without zero. For argparse."""
    amount = parse_amount(text)
    if not amount:
        raise ArgumentTypeError(f"{text!r} is not above 0")
    return amount


def format_amount(amount: float) -> str:
    """At most three digits that count: 100M, 2.5k, 364, 0.37."""
    for unit, factor in reversed(_UNITS.items()):
        if amount >= 0.9995 * factor:
            return f"{amount / factor:.3g}{unit}"
    return f"{amount:.3g}" if amount < 999.5 else "1k"
