"""The translation of one post: its text, its warning, its poll and what its images say.

Texts go to the service as they were typed, and what comes back is drawn as any post's text, so the
service cannot put markup into pages. Redis keeps the result for a day, under a checksum of the
texts and the languages: an edited post has another one.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
import orjson
import structlog
from redis.exceptions import RedisError

from infra.api.errors import NotAllowed, NotFound
from infra.caching.client import redis
from infra.caching.keys import key
from infra.sharding.buckets import shard_of
from posts.errors import PostNotFound
from posts.fragments.present import content_of, present_media
from posts.ids import PostId
from posts.queries.rows import read_posts
from posts.reading.statuses import get_with_visibility
from posts.translation.errors import LanguageUnknown
from posts.translation.service import (
    DETECT,
    PROVIDER,
    Translated,
    get_languages,
    is_configured,
    translate,
)
from posts.types import PostRow, Visibility

FAMILY = "posts.translation:v1"
KEPT_S = 86_400
log = structlog.get_logger()


def get_translation(
    post_id: PostId, viewer_id: int, language: str, charge: Callable[[], None]
) -> dict[str, Any]:
    """Mastodon's Translation entity of a post that everybody may read, or of what a repost shows.

    `charge`: called before the service is asked. Raises: NotFound without a service; PostNotFound;
    NotAllowed for other posts; LanguageUnknown, TranslatorAway; as `charge`. Cost: as
    `load_status_json`, one query by key and one round trip; one request unless Redis has it.
    """
    if not is_configured():
        raise NotFound
    original, visibility = get_with_visibility(post_id, viewer_id)
    if visibility > Visibility.UNLISTED:
        raise NotAllowed
    rows = read_posts(shard_of(original.author_id), [original])
    if not rows:
        raise PostNotFound
    source, target = choose_languages(rows[0].language, language, get_languages())
    media = present_media(rows[0])
    texts = _texts_of(rows[0], [str(image["description"] or "") for image in media])
    translated = _find_kept(texts, source, target)
    if translated is None:
        charge()
        translated = translate(texts, source, target)
        _keep(texts, source, target, translated)
    return _present(rows[0], [image["id"] for image in media], translated, target)


def choose_languages(
    written: str | None, wanted: str, offered: Mapping[str, Sequence[str]]
) -> tuple[str, str]:
    """From and into which language. A post in a language that the service does not know is given to
    it as one to detect. Raises: LanguageUnknown."""
    known = (written or "", (written or "").partition("-")[0])
    source = next((code for code in known if code in offered), DETECT)
    targets = offered.get(source) or {t for some in offered.values() for t in some}
    for code in (wanted, wanted.partition("-")[0]):
        if code in targets:
            return source, code
    raise LanguageUnknown


def _texts_of(row: PostRow, descriptions: Sequence[str]) -> list[str]:
    options = row.poll["options"] if row.poll else []
    return [row.text, row.spoiler_text, *options, *descriptions]


def _present(
    row: PostRow, image_ids: Sequence[object], translated: Translated, language: str
) -> dict[str, Any]:
    text, warning, *others = translated.texts
    options = others[: len(others) - len(image_ids)]
    descriptions = others[len(options) :]
    public_id = PostId.at(row.author_id, row.moment).public
    return {
        "content": content_of(row._replace(text=text)),
        "spoiler_text": warning,
        "language": language,
        "poll": {"id": public_id, "options": [{"title": o} for o in options]} if options else None,
        "media_attachments": [
            {"id": image_id, "description": description}
            for image_id, description in zip(image_ids, descriptions, strict=True)
        ],
        "detected_source_language": translated.source,
        "provider": PROVIDER,
    }


def _key_of(texts: Sequence[str], source: str, target: str) -> bytes:
    return key(FAMILY, sha256(orjson.dumps([source, target, *texts])).hexdigest())


def _find_kept(texts: Sequence[str], source: str, target: str) -> Translated | None:
    """None without Redis, too."""
    try:
        kept = redis().call("GET", _key_of(texts, source, target))
        translated = msgspec.json.decode(kept, type=Translated) if kept else None
    except (RedisError, msgspec.MsgspecError) as error:
        log.warning("translation.not_read", error=str(error))
        return None
    is_whole = translated is not None and len(translated.texts) == len(texts)
    return translated if is_whole else None


def _keep(texts: Sequence[str], source: str, target: str, translated: Translated) -> None:
    value = msgspec.json.encode(translated)
    try:
        redis().call("SET", _key_of(texts, source, target), value, "PX", KEPT_S * 1000)
    except RedisError as error:
        log.warning("translation.not_kept", error=str(error))
