"""Writes the images of an account into its archive: the files, and a list with the descriptions."""

from collections.abc import Generator, Iterator
from zipfile import ZIP_STORED, ZipFile

from accounts.images.queries.image_lists import ListedImage, list_images
from accounts.images.store import read_file
from infra.cells import write_csv
from infra.jobs.types import Batch
from posts.ids import PostId

LIST = "images.csv"
HEADING = ("file", "shown as", "post", "description", "uploaded")
_PAGE = 80


def export_images(
    archive: ZipFile, alias: str, account_id: int
) -> Generator[Batch | None, None, None]:
    """Yields None after each image, and a batch for all.

    Those that moderators hid are only in the list. Raises: ImagesUnavailable while the store of
    files is away. Cost: one read of the store an image; memory holds one image, and the list.
    """
    lines = []
    for image in _iter_images(account_id):
        lines.append(_line_of(image, _write(archive, image)))
        yield None
    archive.writestr(LIST, write_csv([HEADING, *lines]))
    count = len(lines)
    yield Batch(count, 0, alias, count, None, [f"{LIST}: {count} images"])


def _iter_images(account_id: int) -> Iterator[ListedImage]:
    images = list_images(account_id, _PAGE)
    while images:
        yield from images
        images = list_images(account_id, _PAGE, before=images[-1].created_at)


def _write(archive: ZipFile, image: ListedImage) -> str:
    """The name of the file in the archive. Empty: it is hidden, or was removed a moment ago."""
    content = None if image.hidden_at else read_file(image.names.original)
    if content is None:
        return ""
    suffix = image.names.original.rpartition(".")[2]
    name = f"images/{image.id}.{suffix}"
    archive.writestr(name, content, ZIP_STORED)
    return name


def _line_of(image: ListedImage, name: str) -> tuple[str, ...]:
    post = "" if image.moment is None else PostId.at(image.owner_id, image.moment).public
    purpose = image.purpose.name.lower()
    return (name, purpose, post, image.description, image.created_at.isoformat())
