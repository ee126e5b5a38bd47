"""A Mastodon archive: actor.json, outbox.json, and following_accounts.csv from the same settings.

The external id of an account is its address, `ann@example.social`; that of a post is its URL.
An archive is a folder, a .zip or a .tar.gz.

The text of a post's HTML, as its author may have typed it.
"""

import csv
import io
import json
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from infra.importing.errors import FileUnreadable, LineRefused
from infra.importing.lines import ImportLine
from infra.importing.types import AccountRecord, FollowRecord, PostRecord, Record

_BREAKS = {"p": "\n\n", "br": "\n", "li": "\n", "blockquote": "\n\n", "pre": "\n\n"}


class _TextCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br" or self.parts:
            self.parts.append(_BREAKS.get(tag, ""))

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def text_of_html(html: str) -> str:
    """Paragraphs are separated by an empty line. A link is its text: Mastodon's hide no part."""
    collector = _TextCollector()
    collector.feed(html)
    collector.close()
    return "".join(collector.parts).strip()


PUBLIC = {"https://www.w3.org/ns/activitystreams#Public", "as:Public", "Public"}
UNREADABLE = (
    OSError, EOFError, KeyError, zlib.error, zipfile.BadZipFile, tarfile.TarError,
)  # fmt: skip
FILES: Mapping[type[Record], str] = {
    AccountRecord: "actor.json",
    FollowRecord: "following_accounts.csv",
    PostRecord: "outbox.json",
}


class Actor(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    preferred_username: str
    name: str = ""
    summary: str = ""
    type: str = "Person"
    manually_approves_followers: bool = False
    discoverable: bool | None = True
    attachment: list[dict[str, Any]] = []


def iter_archive(path: str, wanted: type[Record], after: int = 0) -> Iterator[ImportLine]:
    """The items of the archive's file for these records, behind the first `after` ones.

    Each is a line of JSON. Raises: FileUnreadable. Cost: the outbox is in memory.
    """
    content = _read(Path(path), FILES[wanted])
    try:
        items = READERS[wanted](content, Path(path))
    except (ValueError, KeyError, TypeError) as error:
        raise FileUnreadable(f"{path}: {FILES[wanted]}: {error}") from error
    for number, item in enumerate(items, 1):
        if number > after:
            yield ImportLine(number, json.dumps(item).encode())


def read_mastodon_item(wanted: type[Record], text: bytes) -> Record | None:
    """The record of an item of `iter_archive`. Raises: LineRefused."""
    item = json.loads(text)
    try:
        return CONVERSIONS[wanted](item)
    except (msgspec.ValidationError, KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, LineRefused):
            raise
        raise LineRefused(f"not as in an archive of Mastodon: {error!r}") from None


def address_of(actor_url: str) -> str:
    """`ann@example.social` of https://example.social/users/ann. Raises: LineRefused."""
    parts = urlsplit(actor_url)
    name = parts.path.rstrip("/").rpartition("/")[2].lstrip("@")
    if not parts.netloc or not name:
        raise LineRefused(f"{actor_url!r} is no account")
    return f"{name}@{parts.netloc}".lower()


def _read(path: Path, name: str) -> bytes:
    try:
        return _read_file(path, name)
    except UNREADABLE as error:
        raise FileUnreadable(f"{path}: {name} cannot be read ({error})") from error


def _read_file(path: Path, name: str) -> bytes:
    if path.is_dir():
        return (path / name).read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return archive.read(_member(archive.namelist(), name))
    with tarfile.open(path) as archive:
        file = archive.extractfile(_member(archive.getnames(), name))
        return b"" if file is None else file.read()


def _member(names: list[str], name: str) -> str:
    """Archives have their files at the top, or in a folder. Raises: KeyError."""
    for member in names:
        if member.rpartition("/")[2] == name:
            return member
    raise KeyError(f"no {name}")


def _read_actor(content: bytes, path: Path) -> list[Any]:
    return [json.loads(content)]


def _read_outbox(content: bytes, path: Path) -> list[Any]:
    """Oldest first, so that a reply comes after the post that it answers."""
    items: list[Any] = json.loads(content)["orderedItems"]
    return sorted(items, key=lambda item: str(item["published"]))


def _read_following(content: bytes, path: Path) -> list[Any]:
    """Each row with the address of the archive's owner."""
    owner = address_of(json.loads(_read(path, FILES[AccountRecord]))["id"])
    rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig")))
    return [{"owner": owner, **row} for row in rows]


def _account(item: dict[str, Any]) -> AccountRecord:
    actor = msgspec.convert(item, type=Actor)
    created_at = item.get("published")
    return msgspec.convert(
        {
            "id": address_of(actor.id),
            "username": actor.preferred_username,
            "display_name": actor.name,
            "note": text_of_html(actor.summary),
            "created_at": created_at,
            "locked": actor.manually_approves_followers,
            "bot": actor.type in ("Service", "Application"),
            "discoverable": bool(actor.discoverable),
            "fields": [_field(part) for part in actor.attachment if "value" in part],
        },
        type=AccountRecord,
    )


def _field(part: dict[str, Any]) -> dict[str, str]:
    return {"name": str(part["name"]), "value": text_of_html(str(part["value"]))}


def _follow(row: dict[str, str]) -> FollowRecord:
    """Columns of Mastodon 4: Account address, Show boosts, Notify on new posts, Languages."""
    address = (row.get("Account address") or "").strip().lstrip("@").lower()
    if "@" not in address:
        raise LineRefused(f"{address!r} is no address of an account")
    languages = [code.strip() for code in (row.get("Languages") or "").split(",")]
    return FollowRecord(
        row["owner"],
        address,
        notify=_flag(row, "Notify on new posts", False),
        reposts=_flag(row, "Show boosts", True),
        languages=[code for code in languages if code],
    )


def _flag(row: dict[str, str], name: str, default: bool) -> bool:
    return {"true": True, "false": False}.get((row.get(name) or "").lower(), default)


def _post(item: dict[str, Any]) -> PostRecord:
    if item["type"] == "Announce":
        return _convert(item, {"id": item["id"], "repost_of": item["object"]})
    note = item["object"]
    if item["type"] != "Create" or note["type"] != "Note":
        what = note["type"] if isinstance(note, dict) else "no post"
        raise LineRefused(f"{item['type']} of {what} is not imported")
    return _convert(
        item,
        {
            "id": note["id"],
            "text": text_of_html(note.get("content") or ""),
            "spoiler_text": note.get("summary") or "",
            "sensitive": bool(note.get("sensitive")),
            "language": next(iter(note.get("contentMap") or ()), None),
            "in_reply_to": note.get("inReplyTo"),
            "attachments": len(note.get("attachment") or ()),
        },
    )


def _convert(item: dict[str, Any], fields: dict[str, Any]) -> PostRecord:
    author = address_of(item["actor"])
    return msgspec.convert(
        {
            "author": author,
            "created_at": item["published"],
            "visibility": _visibility(item, author),
            **fields,
        },
        type=PostRecord,
    )


def _visibility(item: dict[str, Any], author: str) -> str:
    """By the addresses: the public, the followers, or only those who are named."""
    to, cc = set(item.get("to") or ()), set(item.get("cc") or ())
    if to & PUBLIC:
        return "public"
    if cc & PUBLIC:
        return "unlisted"
    is_for_followers = any(address.endswith("/followers") for address in to | cc)
    return "private" if is_for_followers else "direct"


Conversion = Callable[[Any], Record]
READERS: Mapping[type[Record], Callable[[bytes, Path], list[Any]]] = {
    AccountRecord: _read_actor,
    FollowRecord: _read_following,
    PostRecord: _read_outbox,
}
CONVERSIONS: Mapping[type[Record], Conversion] = {
    AccountRecord: _account,
    FollowRecord: _follow,
    PostRecord: _post,
}
