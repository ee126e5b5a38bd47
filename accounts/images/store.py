"""The store of files: a folder, or a bucket that speaks S3. Every wait on it has a deadline.

A folder on a network, or a bucket, can hang. A thread that hangs in it cannot be interrupted, so
the caller stops waiting for it. There are few threads: while all of them hang, calls fail at once.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from functools import cache, partial
from typing import Any, TypeVar

import structlog
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from accounts.images.errors import ImagesUnavailable
from accounts.images.metrics import STORE_FAILURES

THREADS = 4
T = TypeVar("T")
log = structlog.get_logger()
_free = threading.BoundedSemaphore(THREADS)


def write_files(contents: Mapping[str, bytes]) -> None:
    """Writes files under names that no file had before.

    Raises: ImagesUnavailable; some may be written all the same.
    """
    _within_deadline("write", partial(_write, contents))


def delete_files(names: Iterable[str]) -> None:
    """Deletes files. Safety: idempotent. Raises: ImagesUnavailable; some may be deleted."""
    _within_deadline("delete", partial(_delete, list(names)))


def move_files(names: Mapping[str, str]) -> None:
    """Moves files to new names. Files that moved before stay there.

    Safety: idempotent. A file is at its old or its new name at any moment. Raises:
    ImagesUnavailable; some may have moved.
    """
    _within_deadline("move", partial(_move, names))


def read_file(name: str) -> bytes | None:
    """A file, or None if there is none. Raises: ImagesUnavailable."""
    return _within_deadline("read", partial(_read, name))


def _write(contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        default_storage.save(name, ContentFile(content))


def _delete(names: Sequence[str]) -> None:
    for name in names:
        default_storage.delete(name)


def _move(names: Mapping[str, str]) -> None:
    for old, new in names.items():
        content = _read(old)
        if content is not None:
            default_storage.delete(new)  # a process died while it wrote this
            default_storage.save(new, ContentFile(content))
            default_storage.delete(old)


def _read(name: str) -> bytes | None:
    try:
        with default_storage.open(name) as opened:
            return opened.read()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None


def _within_deadline(what: str, work: Callable[[], T]) -> T:
    if not _free.acquire(blocking=False):
        raise _unavailable(what, "all threads wait for the store")
    try:
        future = _pool().submit(work)
    except BaseException:
        _free.release()
        raise
    future.add_done_callback(_release)
    try:
        return future.result(settings.MEDIA_STORE_MS / 1000)
    except TookTooLong:
        raise _unavailable(what, "took too long") from None
    except Exception as error:
        raise _unavailable(what, str(error)) from error


def _release(_: Future[Any]) -> None:
    _free.release()


@cache
def _pool() -> ThreadPoolExecutor:
    """Not at import: threads do not survive the fork of a web server's workers."""
    return ThreadPoolExecutor(THREADS, "images-store")


def _unavailable(what: str, why: str) -> ImagesUnavailable:
    STORE_FAILURES.labels(what).inc()
    log.error("images.store_failed", what=what, error=why)
    return ImagesUnavailable(why)
