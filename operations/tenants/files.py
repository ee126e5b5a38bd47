"""The images of a tenant: a folder in that of the installation, or in its bucket."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.files.storage import Storage, storages

from infra.tenant_stores import folder_of


def images_of(name: str) -> Storage:
    folder = folder_of(name, settings.MEDIA_DIR)
    declared = settings.FILE_STORES(folder, inside=folder_of(name, ""))
    return storages.create_storage(declared["default"])


def copy_images(name: str, target: Path) -> int:
    """Into this folder, under the same names; returns how many. Safety: writes a file again."""
    store, copied = images_of(name), 0
    for path in _walk(store, ""):
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with store.open(path) as image:
            file.write_bytes(image.read())
        copied += 1
    return copied


def count_images(name: str) -> int:
    return sum(1 for _ in _walk(images_of(name), ""))


def erase_images(name: str) -> None:
    """Safety: idempotent; killed, it has erased some."""
    store = images_of(name)
    for path in [*_walk(store, "")]:
        store.delete(path)
    _erase_folders(store, "")


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
