"""Writes all that an account put in into one archive: profile, posts, images, lists, marks.

The lists are CSV files as Mastodon exports them, so that another server can import them.

Writes the images of an account into its archive: the files, and a list with the descriptions.

The archive of an account in pieces, while it is written: for a download.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import orjson

from accounts.images.queries.image_lists import ListedImage, list_images
from accounts.images.store import read_file
from accounts.models import User
from accounts.queries.load import get_account_json
from infra.api.live_parts import fill_body
from infra.api.pages import Page, Window
from infra.cells import write_csv
from infra.clock import now_ms
from infra.jobs.types import Batch
from infra.sharding.buckets import shard_of
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.api.present import present_warning
from moderation.jobs.exported_people import PAGE, Line, iter_files_of_people
from moderation.queries.decisions import list_strikes
from posts.ids import PostId
from posts.queries.lists import list_marked
from posts.queries.reactions import list_reactions
from posts.scheduled.api.present import present_scheduled
from posts.scheduled.queries.scheduled import list_scheduled
from posts.types import Kind
from relations.lists.api.present import present_list
from relations.lists.queries.lists import list_account_lists
from timelines.feeds.author import author_page
from timelines.feeds.author_batches import AuthorTimelineQuery
from timelines.tags.queries.own_tags import are_tags_at_home, list_own_tags
from timelines.tags.types import TagListKind

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
        lines.append(_line_of(image, _write_image(archive, image)))
        yield None
    archive.writestr(LIST, write_csv([HEADING, *lines]))
    count = len(lines)
    yield Batch(count, 0, alias, count, None, [f"{LIST}: {count} images"])


def _iter_images(account_id: int) -> Iterator[ListedImage]:
    images = list_images(account_id, _PAGE)
    while images:
        yield from images
        images = list_images(account_id, _PAGE, before=images[-1].created_at)


def _write_image(archive: ZipFile, image: ListedImage) -> str:
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


T = TypeVar("T")
# A batch is a whole file. None: more is written of one.
Steps = Generator[Batch | None, None, None]
_MARKS = {"bookmarks.csv": Kind.BOOKMARK, "favourites.csv": Kind.FAVOURITE}


def export_account(account_id: int, path: Path) -> Iterator[Batch]:
    """Writes the archive; yields a batch for each of its files.

    `path` appears when the archive is whole. Memory holds one page at a time. What is written
    during the export may be in it or not. Raises: AccountNotFound, also for a suspended account;
    ImagesUnavailable. Cost: the pages of all lists of the account, and its files.
    """
    account, unfinished = read_exported_account(account_id), path.with_name(f"{path.name}.part")
    with ZipFile(unfinished, "w", ZIP_DEFLATED) as archive:
        yield from filter(None, write_archive(archive, account_id, account))
    unfinished.rename(path)


def write_archive(archive: ZipFile, account_id: int, account: bytes) -> Steps:
    """Writes all files of an account into an archive; yields a batch for each of them, and None
    after each line and each image. `account`: of `read_exported_account`.

    Raises: ImagesUnavailable.
    """
    alias = shard_of(account_id)
    for name, lines in {"account.json": iter([account]), **_files_of(account_id)}.items():
        yield from _write(archive, alias, name, lines)
    yield from export_images(archive, alias, account_id)


def _files_of(account_id: int) -> dict[str, Iterator[bytes]]:
    """The lines of each file, which are read while the file is written."""
    tags = list_own_tags(account_id, TagListKind.FOLLOWED)
    return {
        "posts.jsonl": _iter_posts(account_id),
        **{n: _as_csv(lines) for n, lines in iter_files_of_people(account_id, now_ms())},
        **{name: _as_csv(_iter_marked(account_id, kind)) for name, kind in _marks().items()},
        "scheduled_posts.jsonl": _iter_scheduled(account_id),
        "notices.jsonl": _iter_notices(account_id),
        "lists.jsonl": (present_list(each) + b"\n" for each in list_account_lists(account_id)),
        "followed_tags.csv": _as_csv([tag.name] for tag in tags),
    }


def _marks() -> dict[str, Kind]:
    """By the file of the archive."""
    reactions = {f"reactions/{each.name}.csv": each.kind for each in list_reactions()}
    return _MARKS | reactions


def read_exported_account(account_id: int) -> bytes:
    """The profile, the e-mail address, the language and what home shows, as JSON.

    Raises: AccountNotFound.
    """
    account = orjson.loads(fill_body(get_account_json(account_id, is_own=True), account_id))
    private = User.objects.using(GLOBAL_ALIAS).values("email", "language").get(pk=account_id)
    home = {"followed_tags_at_home": are_tags_at_home(account_id)}
    return orjson.dumps(account | private | home, option=orjson.OPT_INDENT_2)


def _write(archive: ZipFile, alias: str, name: str, lines: Iterator[bytes]) -> Steps:
    count = 0
    with archive.open(name, "w") as file:
        for line in lines:
            file.write(line)
            count += 1
            yield None
    yield Batch(count, 0, alias, count, None, [f"{name}: {count} lines"])


def _iter_posts(account_id: int) -> Iterator[bytes]:
    """Status entities, newest first, a line each."""
    read = partial(author_page, AuthorTimelineQuery(account_id, account_id))
    for status in _iter_items(read):
        yield fill_body(status, account_id) + b"\n"


def _iter_scheduled(account_id: int) -> Iterator[bytes]:
    """ScheduledStatus entities, newest first, a line each."""
    for row in _iter_items(partial(list_scheduled, account_id)):
        yield present_scheduled(account_id, [row])[0] + b"\n"


def _iter_notices(account_id: int) -> Iterator[bytes]:
    """What moderators decided about the account, as AccountWarning entities, newest first."""
    account = get_account_json(account_id)
    for decision, appeal in _iter_items(partial(list_strikes, account_id)):
        yield present_warning(decision, appeal, account) + b"\n"


def _iter_marked(account_id: int, kind: Kind) -> Iterator[Line]:
    for status in _iter_items(partial(list_marked, account_id, kind)):
        yield [orjson.loads(status)["url"]]


def _iter_items(read: Callable[[Window], Page[T]]) -> Iterator[T]:
    window: Window | None = Window(PAGE)
    while window is not None:
        page = read(window)
        yield from page.items
        window = window._replace(max_id=page.older) if page.older else None


def _as_csv(lines: Iterator[Line]) -> Iterator[bytes]:
    for line in lines:
        yield write_csv([line]).encode()


PIECE_BYTES = 64 * 1024


class _PieceBuffer:
    """What a ZipFile writes into. It cannot seek, so a ZipFile never looks back."""

    def __init__(self) -> None:
        self._written = bytearray()

    def __len__(self) -> int:
        return len(self._written)

    def write(self, data: bytes) -> int:
        self._written += data
        return len(data)

    def flush(self) -> None:
        """A ZipFile calls it. `take` has all that was written."""

    def close(self) -> None:
        """As `flush`."""

    def take(self) -> bytes:
        taken = bytes(self._written)
        self._written.clear()
        return taken


def stream_account(account_id: int) -> Generator[bytes, None, None]:
    """The archive that `accounts export` writes, in pieces that are made when they are asked for.

    Shape: PIECE_BYTES each, and what one line or image adds; memory holds one of them. Without the
    last piece it is no archive, because that has the list of its files. Raises: AccountNotFound,
    also for a suspended account; ImagesUnavailable and errors of databases. The first piece is made
    at once: a small archive is whole or refused, and only a large one may end in the middle. Cost:
    as `accounts export`.
    """
    pieces = _stream(account_id, read_exported_account(account_id))
    return _go_on(next(pieces), pieces)


def _go_on(first: bytes, pieces: Generator[bytes, None, None]) -> Generator[bytes, None, None]:
    with closing(pieces):
        yield first
        yield from pieces


def _stream(account_id: int, account: bytes) -> Generator[bytes, None, None]:
    buffer = _PieceBuffer()
    with (
        ZipFile(buffer, "w", ZIP_DEFLATED) as archive,
        closing(write_archive(archive, account_id, account)) as steps,
    ):
        for _ in steps:
            if len(buffer) >= PIECE_BYTES:
                yield buffer.take()
    yield buffer.take()
