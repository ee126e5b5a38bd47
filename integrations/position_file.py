"""A position in the change feed that a file keeps from run to run."""

import os
from pathlib import Path

from integrations.positions import decode_position, encode_position
from integrations.types import SitePosition


def find_position(path: Path) -> SitePosition | None:
    """None: there is no file yet. Raises: OSError, PositionInvalid."""
    try:
        return decode_position(path.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return decode_position("?")


def keep_position(path: Path, position: SitePosition) -> None:
    """Replaces the file as a whole: after a crash it has this position or the one before.

    Raises: OSError.
    """
    new = path.with_name(f"{path.name}.new")
    with new.open("w", encoding="ascii") as file:
        file.write(encode_position(position))
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
