"""The folder of images. Its owner may write it, and its group may read it: nginx is in the group.

{folder}/{owner}/{id}/{token}/original.jpg     folders 0750, files 0640, with any umask
"""

from pathlib import Path
from typing import IO, Any

from django.core.files.storage import FileSystemStorage

FILE_MODE, FOLDER_MODE = 0o640, 0o750


class ImageFolder(FileSystemStorage):
    """Django's folder of files. The folder itself has the mode that its maker gave it."""

    def __init__(self, location: str) -> None:
        super().__init__(location, file_permissions_mode=FILE_MODE)

    def save(self, name: str | None, content: IO[Any], max_length: int | None = None) -> str:
        """As Django's, in folders with the right mode."""
        if name:
            self._make_folders(Path(name).parent)
        return super().save(name, content, max_length)

    def _make_folders(self, inside: Path) -> None:
        """Not by Django's `directory_permissions_mode`: it changes the umask of all threads.

        Safety: a folder that a killed process left with another mode gets the right one here.
        """
        Path(self.location).mkdir(parents=True, exist_ok=True)
        _, *inner = (*reversed(inside.parents), inside)
        for folder in (Path(self.location, part) for part in inner):
            folder.mkdir(exist_ok=True)
            if folder.stat().st_mode & 0o777 != FOLDER_MODE:
                folder.chmod(FOLDER_MODE)
