"""The library that gives a process another clock: libfaketime, from the wheel or the machine."""

import platform
from importlib.util import find_spec
from pathlib import Path

_IN_WHEEL = "vendor/libfaketime/src/libfaketime.so.1"
_MACHINE = ("/usr/lib", "*/faketime/libfaketime.so.1")


class NoFakeTime(RuntimeError):
    """No library for this machine; the text says what to do."""


def find_fake_time() -> Path:
    """The library, for LD_PRELOAD. Raises NoFakeTime."""
    library = next(Path(_MACHINE[0]).glob(_MACHINE[1]), None) or _from_wheel()
    if library is None:
        system = f"{platform.system()} {platform.machine()}"
        raise NoFakeTime(
            f"the wheel libfaketime has no library for {system}, and the machine has none either:"
            " on Debian, apt install faketime"
        )
    return library


def _from_wheel() -> Path | None:
    """The wheel says that it is for any machine, but its library is for Linux on x86-64. So
    pyproject.toml asks for it there only."""
    spec = find_spec("libfaketime")
    if spec is None or spec.origin is None:
        return None
    library = Path(spec.origin).parent / _IN_WHEEL
    return library if library.exists() else None
