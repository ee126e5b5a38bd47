"""The archive of an account in pieces, while it is written: for a download."""

from collections.abc import Generator
from contextlib import closing
from zipfile import ZIP_DEFLATED, ZipFile

from moderation.jobs.export_account import read_exported_account, write_archive

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
