"""Which Chromium the tests drive: CHROMIUM, the machine's own, or one the project brings along.

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
    """None: this machine has none, and there is none to bring along. Raises as ensure_pinned."""
    own = os.environ.get("CHROMIUM") or _of_machine()
    if own:
        return Chromium(own, {})
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return None
    ensure_pinned()
    return Chromium(str(PROGRAM), environment())


def _of_machine() -> str | None:
    """Ubuntu's `chromium-browser` is a script that only asks for another package."""
    found = find_programs(NAMES, os.environ["PATH"])
    return next((str(program) for program in found if major_version(program, VERSION)), None)


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
