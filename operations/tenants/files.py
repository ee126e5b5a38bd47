"""The images of a tenant: a folder in that of the installation, or in its bucket."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.files.storage import Storage, storages

from infra.tenant_stores import folder_of


class Images(NamedTuple):
    """`total_bytes`: of all of them."""

    number: int
    total_bytes: int


def images_of(name: str) -> Storage:
    folder = folder_of(name, settings.MEDIA_DIR)
    declared = settings.FILE_STORES(folder, inside=folder_of(name, ""))
    return storages.create_storage(declared["default"])


def copy_images(name: str, target: Path) -> Images:
    """Into this folder, under the same names. Safety: writes a file again."""
    store, number, total = images_of(name), 0, 0
    for path in _walk(store, ""):
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with store.open(path) as image:
            total += file.write_bytes(image.read())
        number += 1
    return Images(number, total)


def erase_images(name: str) -> Images:
    """How much there was. Safety: idempotent; killed, it has erased some."""
    store, number, total = images_of(name), 0, 0
    for path in [*_walk(store, "")]:
        total += store.size(path)
        store.delete(path)
        number += 1
    _erase_folders(store, "")
    return Images(number, total)


def _walk(store: Storage, folder: str) -> Iterator[str]:
    folders, files = _list(store, folder)
    for file in files:
        yield f"{folder}{file}"
    for inner in folders:
        yield from _walk(store, f"{folder}{inner}/")


def _erase_folders(store: Storage, folder: str) -> None:
    """A bucket has none."""
    for inner in _list(store, folder)[0]:
        _erase_folders(store, f"{folder}{inner}/")
        store.delete(f"{folder}{inner}")


def _list(store: Storage, folder: str) -> tuple[list[str], list[str]]:
    try:
        return store.listdir(folder)
    except FileNotFoundError:
        return [], []
