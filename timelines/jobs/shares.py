"""A share as people give it on a command line."""

from argparse import ArgumentTypeError


def share(text: str) -> float:
    """A number above 0, at most 1, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1:
        raise ArgumentTypeError(f"{text!r} is not a number above 0, at most 1")
    return number
