"""Deletes the data of `make run`: python -m lab.services.delete_data FOLDER."""

import sys
from pathlib import Path

from lab.services.errors import DataInUse
from lab.services.folders import remove_folders
from lab.services.locks import locked


def delete_data(data: Path) -> None:
    """Deletes `data` and the folders made for it elsewhere. Raises DataInUse while servers run."""
    if data.exists():
        with locked(data / "lock"):
            remove_folders(data)


if __name__ == "__main__":
    try:
        delete_data(Path(sys.argv[1]))
    except DataInUse as error:
        sys.exit(str(error))
