"""Which Chromium the tests drive: CHROMIUM, one the project brings along, or the machine's own.

python -m tests.browser.chromium      says which, and fetches it if it has to
"""

import os
import platform
import sys
from typing import NamedTuple

from lab.services.working_programs import find_programs, major_version
from tests.browser.pinned import PROGRAM, WrongDigest, ensure_pinned, environment

NAMES = ("chromium", "chromium-browser", "google-chrome")
VERSION = r"(?:Chromium|Google Chrome) (\d+)"
REASON = "no Chromium: install one (on Debian `chromium`), or name one with CHROMIUM=/path/to/it"


class Chromium(NamedTuple):
    """`more`: environment it needs on top of ours."""

    program: str
    more: dict[str, str]


def find_chromium() -> Chromium | None:
    """None: this machine has none, and there is none to bring along.

    Raises as ensure_pinned, if the machine has none either.
    """
    if own := os.environ.get("CHROMIUM"):
        return Chromium(own, {})
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return _of_machine()
    try:
        ensure_pinned()
    except OSError:
        if machines := _of_machine():
            return machines
        raise
    return Chromium(str(PROGRAM), environment())


def _of_machine() -> Chromium | None:
    """Ubuntu's `chromium-browser` is a script that only asks for another package."""
    programs = find_programs(NAMES, os.environ["PATH"])
    fit = (str(program) for program in programs if major_version(program, VERSION))
    return next((Chromium(program, {}) for program in fit), None)


def main() -> None:
    """Says what is wrong and goes on: few tests need a browser, and those say it again."""
    try:
        found = find_chromium()
    except (OSError, WrongDigest) as error:
        sys.stdout.write(f"  browser: {error!r}\n")
    else:
        sys.stdout.write(f"  browser: {found.program if found else REASON}\n")


if __name__ == "__main__":
    main()
