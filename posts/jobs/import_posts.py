"""Writes the posts of another system, with their dates."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from django.conf import settings

from accounts.identities.queries import AccountDirectory
from accounts.sql import EXISTING_ACCOUNT_IDS
from accounts.texts.links import exceeds
from infra.api.errors import TidelineError
from infra.importing.job import NumberedRecord, WrittenBatch
from infra.importing.types import PostRecord
from infra.languages import find_language_code
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.actions.check_own_data import encode_custom
from posts.actions.delete_post import delete_post
from posts.actions.read_links import read_all_links
from posts.errors import PostNotFound
from posts.external.actions.import_posts import MOST_TOGETHER, ImportedPost, import_posts
from posts.external.ages import may_be_old
from posts.external.queries.posts import KnownPost, load_known_posts, load_originals
from posts.ids import PostId, second_of
from posts.queries.post_types import list_type_names
from posts.types import LONGEST_TYPE, NO_LINKS, STATUS, Kind, PostLinks, Target, Visibility

FULL = "the author has 1,296 posts in this second"
REPOSTED = "the author reposts this post already"
Numbered = NumberedRecord[PostRecord]


class PostImporter:
    """Writes posts, and deletes them, in the order of their lines for each post."""

    def __init__(self, without_attachments: bool) -> None:
        self._accounts = AccountDirectory()
        self._without_attachments = without_attachments
        # Whether there was a post, also one that is here already, that no timeline gets pushed.
        self.has_old = False

    def write(self, records: Sequence[Numbered], now_s: float, dry_run: bool) -> WrittenBatch:
        """Safety: idempotent; each statement is one transaction with the change that brings the
        rest up to it.

        Cost: one query for external ids of accounts that were not seen; a query on each shard, and
        for names in texts one more; a statement a shard for MOST_TOGETHER posts, at once, and again
        for each step of answers to answers in the batch; a statement for each deletion.
        """
        self.has_old |= any(
            record.created_at is not None and may_be_old(record.created_at.timestamp(), now_s)
            for _, record in records
        )
        changed = 0
        refused: dict[int, str] = {}
        for group in _group_by_repeats(records):
            part = _GroupImport(self._load_ids(group), now_s, dry_run)
            part.write(group, self._without_attachments)
            changed, refused = changed + part.changed, {**refused, **part.refused}
        return WrittenBatch(changed, refused)

    def _load_ids(self, records: Sequence[Numbered]) -> Mapping[str, int]:
        """Of the authors whose account exists on its shard by now."""
        ids = self._accounts.load(record.author for _, record in records)
        calls = {
            alias: partial(fetch_all, alias, EXISTING_ACCOUNT_IDS, (account_ids,))
            for alias, account_ids in group_by_shard(ids.values()).items()
        }
        existing = {row[0] for rows in scatter(calls).values() for row in rows}
        return {key: account_id for key, account_id in ids.items() if account_id in existing}


class _ReadyPost(NamedTuple):
    number: int
    post: ImportedPost


class _GroupImport:
    """The import of records with different ids. `changed`, `refused`: as WrittenBatch."""

    def __init__(self, ids: Mapping[str, int], now_s: float, dry_run: bool) -> None:
        self._ids, self._now_s, self._dry_run = ids, now_s, dry_run
        self.changed, self.refused = 0, dict[int, str]()

    def write(self, records: Sequence[Numbered], without_attachments: bool) -> None:
        self._known = load_known_posts(_iter_named(records))
        self._originals = load_originals(self._known.values())
        self._reposts = {
            (known.post_id.author_id, known.original) for known in self._known.values()
        }
        left = []
        for numbered in records:
            reason = _refusal(numbered.record, self._ids, self._now_s, without_attachments)
            reason = reason or _fault_of_own_data(numbered.record)
            if reason:
                self.refused[numbered.number] = reason
            elif numbered.record.deleted:
                self._delete(numbered.record)
            elif numbered.record.id not in self._known:
                left.append(numbered)
        links = dict(
            zip(
                (numbered.number for numbered in left),
                read_all_links([numbered.record.text for numbered in left]),
                strict=True,
            )
        )
        while left:
            left = self._write_some(left, links)

    def _write_some(
        self, records: Sequence[Numbered], links: Mapping[int, PostLinks]
    ) -> list[Numbered]:
        """Writes those that wait for no other one; returns those that do."""
        mine = {numbered.record.id for numbered in records}
        waiting = [n for n in records if not mine.isdisjoint(_targets_of(n.record))]
        ready = [n for n in records if mine.isdisjoint(_targets_of(n.record))]
        if not ready:
            self.refused |= {n.number: "it answers itself, by others" for n in waiting}
            return []
        posts = []
        for numbered in ready:
            post = self._place(numbered, links[numbered.number])
            if isinstance(post, str):
                self.refused[numbered.number] = post
            else:
                posts.append(_ReadyPost(numbered.number, post))
        self._write_posts(posts)
        return waiting

    def _place(self, numbered: Numbered, links: PostLinks) -> ImportedPost | str:
        """The post to write, or why not."""
        record = numbered.record
        author_id, about = self._ids[record.author], None
        for target_id in _targets_of(record):
            about = self._find_target(target_id)
            if about is None or not about.is_live:
                return f"{target_id!r} is not here, or not any more"
        if record.repost_of and about and not _may_repost(author_id, about):
            return f"{record.repost_of!r} is not public"
        if record.repost_of and about and self._has_reposted(author_id, about):
            return REPOSTED
        kind = Kind.REPOST if record.repost_of else Kind.REPLY if about else Kind.POST
        target = Target(kind, about.post_id.author_id, about.post_id.moment) if about else None
        return ImportedPost(
            author_id,
            record.id,
            second_of(record.created_at.timestamp()),  # type: ignore[union-attr]  # was checked
            record.text.strip(),
            record.sensitive or bool(record.spoiler_text),
            record.spoiler_text.strip(),
            find_language_code(record.language or ""),
            kind,
            target,
            Visibility[record.visibility.upper()],
            NO_LINKS if record.repost_of else links,
            about.thread if about and kind == Kind.REPLY else None,
            None if record.type == STATUS else record.type,
            None if record.custom is None else encode_custom(record.custom),
        )

    def _find_target(self, target_id: str) -> KnownPost | None:
        """The post of this id; of a repost what it shows, as when somebody answers one here."""
        known = self._known.get(target_id)
        return self._originals.get(known.original) if known and known.original else known

    def _has_reposted(self, author_id: int, original: KnownPost) -> bool:
        """Whether another line is this repost already. From now on this one is."""
        repost = author_id, original.post_id
        has_reposted = repost in self._reposts
        self._reposts.add(repost)
        self._originals[original.post_id] = original
        return has_reposted

    def _write_posts(self, ready: Sequence[_ReadyPost]) -> None:
        by_shard: dict[str, list[_ReadyPost]] = {}
        for item in ready:
            by_shard.setdefault(shard_of(item.post.author_id), []).append(item)
        calls = {alias: partial(self._write_on, alias, items) for alias, items in by_shard.items()}
        written = [pair for pairs in scatter(calls).values() for pair in pairs]
        for item, post_id in written:
            self._note(item, post_id)
        reposts = [item for item, i in written if i is None and item.post.kind == Kind.REPOST]
        known = load_known_posts([item.post.external_id for item in reposts])
        self.refused |= {
            item.number: REPOSTED for item in reposts if item.post.external_id not in known
        }

    def _write_on(
        self, alias: str, items: Sequence[_ReadyPost]
    ) -> list[tuple[_ReadyPost, PostId | str | None]]:
        """Each with its new id; FULL; or None for one that was imported in the meantime, and for a
        repost of what the author reposts already."""
        results: list[tuple[_ReadyPost, PostId | str | None]] = []
        for first in range(0, len(items), MOST_TOGETHER):
            some = items[first : first + MOST_TOGETHER]
            if self._dry_run:
                results += [
                    (item, PostId(item.post.second, item.post.author_id, 0)) for item in some
                ]
                continue
            ids, fulls = import_posts(alias, [item.post for item in some])
            results += [
                (item, FULL if place in fulls else ids.get(place))
                for place, item in enumerate(some)
            ]
        return results

    def _note(self, item: _ReadyPost, post_id: PostId | str | None) -> None:
        if isinstance(post_id, str):
            self.refused[item.number] = post_id
        elif post_id is not None:
            self.changed += 1
            post = item.post
            original = post.target.post_id if post.target and post.kind == Kind.REPOST else None
            self._known[post.external_id] = KnownPost(
                post_id, post.kind, post.visibility, post.thread or post_id, True, original
            )

    def _delete(self, record: PostRecord) -> None:
        known = self._known.get(record.id)
        if known is None or not known.is_live:
            return
        try:
            if not self._dry_run:
                delete_post(known.post_id)
            self.changed += 1
        except PostNotFound:
            return  # deleted in the meantime


def _refusal(
    record: PostRecord, ids: Mapping[str, int], now_s: float, without_attachments: bool
) -> str:
    if record.author not in ids:
        return f"there is no account {record.author!r}: import accounts first"
    if record.deleted:
        return ""
    return _fault_of_date(record, now_s) or _fault_of_text(record, without_attachments)


def _fault_of_date(record: PostRecord, now_s: float) -> str:
    if record.created_at is None:
        return "created_at is missing"
    if record.created_at.timestamp() > now_s:
        return "created_at is in the future"
    try:
        second_of(record.created_at.timestamp())
    except OverflowError:
        return "created_at is before 2006"
    return ""


def _fault_of_text(record: PostRecord, without_attachments: bool) -> str:
    most = settings.POST_MAX_CHARACTERS
    text = record.text.strip()
    if record.repost_of and (text or record.in_reply_to):
        return "a repost has no text and answers no post"
    if not record.repost_of and not text:
        return "there is no text"
    if exceeds(text, most, record.spoiler_text):
        return f"it has more than {most} characters (POST_MAX_CHARACTERS)"
    if record.language and find_language_code(record.language) is None:
        return "language is no language code"
    if record.visibility == "direct":
        return "direct posts are not imported"
    if record.attachments and not without_attachments:
        return "attachments are not imported (--without-attachments imports the text)"
    return ""


def _fault_of_own_data(record: PostRecord) -> str:
    """A type is declared before the run. Cost: as `list_type_names`, if it has one."""
    if record.type == STATUS and record.custom is None:
        return ""
    if record.repost_of:
        return "a repost has no type and no custom"
    if record.type != STATUS and record.type not in list_type_names(None):
        return f"no service declared the type {record.type[:LONGEST_TYPE]!r}"
    try:
        encode_custom(record.custom or {})
    except TidelineError as error:
        return str(error)
    return ""


def _may_repost(author_id: int, original: KnownPost) -> bool:
    is_own = original.post_id.author_id == author_id
    return original.visibility <= (Visibility.PRIVATE if is_own else Visibility.UNLISTED)


def _targets_of(record: PostRecord) -> list[str]:
    return [target for target in (record.in_reply_to, record.repost_of) if target is not None]


def _iter_named(records: Sequence[Numbered]) -> Iterator[str]:
    for _, record in records:
        yield record.id
        yield from _targets_of(record)


def _group_by_repeats(records: Sequence[Numbered]) -> Iterator[list[Numbered]]:
    """The records in parts, so that no id comes twice in one."""
    part: list[Numbered] = []
    ids: set[str] = set()
    for numbered in records:
        if numbered.record.id in ids:
            yield part
            part, ids = [], set()
        part.append(numbered)
        ids.add(numbered.record.id)
    yield part
