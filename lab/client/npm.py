"""The npm package of the client, as a folder that `npm install` and `npm publish` take."""

import shutil
from pathlib import Path

from lab.client.generate import npm_files_of
from lab.client.shapes import Schema
from lab.runner.child import CHECKOUT

WRITTEN_BY_HAND = CHECKOUT / "client/npm"


def write_package(document: Schema, folder: Path) -> None:
    """In the place of what the folder had. Raises: OperationsUnnamed."""
    generated = npm_files_of(document)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(WRITTEN_BY_HAND, folder)
    shutil.copy(CHECKOUT / "client/LICENSE", folder)
    for name, text in generated.items():
        (folder / name).write_text(text, encoding="utf-8")
