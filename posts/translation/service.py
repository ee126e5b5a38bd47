"""The server that translates, by LibreTranslate's API (https://docs.libretranslate.com).

It may hang or be away. A request waits ANSWER_S at most; after one without an answer no other one
of this process is sent for PAUSE_S. At most MOST_AT_ONCE threads of a process wait for it.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import TypeVar

import msgspec
import structlog
from django.conf import settings

from infra.outgoing.addresses import ForbiddenAddress
from infra.outgoing.requests import DocumentUnreadable, get, post_json
from posts.translation.errors import TranslatorAway

PROVIDER = "LibreTranslate"
DETECT = "auto"
ANSWER_S, PAUSE_S, MOST_BYTES, MOST_AT_ONCE = 5.0, 10.0, 512 * 1024, 4
# Bytes of an answer for each of the question. JSON may write a letter as six.
MOST_GROWTH = 20
LANGUAGES_S = 3_600.0
_NO_ANSWER = (ForbiddenAddress, OSError, HTTPException, msgspec.MsgspecError, ValueError)
T = TypeVar("T")
log = structlog.get_logger()


class Detected(msgspec.Struct, frozen=True):
    language: str


class TranslatorAnswer(msgspec.Struct, frozen=True):
    """`detectedLanguage`: only if it was asked for, one for each text."""

    translatedText: list[str]  # noqa: N815 - as it comes
    detectedLanguage: list[Detected] = []  # noqa: N815


class OfferedLanguage(msgspec.Struct, frozen=True):
    code: str
    targets: list[str]


class Translated(msgspec.Struct, frozen=True):
    """Texts in the order of the question. `source`: their language."""

    texts: list[str]
    source: str


class _Service:
    """What this process knows of it. The times are of the monotonic clock."""

    places = threading.BoundedSemaphore(MOST_AT_ONCE)
    closed_until = float("-inf")
    languages: Mapping[str, Sequence[str]] | None = None
    languages_until = float("-inf")


def is_configured() -> bool:
    return bool(settings.TRANSLATION_URL)


def get_languages() -> Mapping[str, Sequence[str]]:
    """Into which languages it translates each language. Raises: TranslatorAway, unless this process
    knew them before. Cost: none, or one request an hour."""
    if time.monotonic() < _Service.languages_until and _Service.languages is not None:
        return _Service.languages
    try:
        offered = _ask("languages", None, list[OfferedLanguage])
    except TranslatorAway:
        if _Service.languages is None:
            raise
        return _Service.languages
    languages = {each.code: [t for t in each.targets if t != each.code] for each in offered}
    _Service.languages, _Service.languages_until = languages, time.monotonic() + LANGUAGES_S
    return languages


def translate(texts: Sequence[str], source: str, target: str) -> Translated:
    """The texts in another language. `source`: theirs, or DETECT. Raises: TranslatorAway. Cost: one
    request of at most ANSWER_S; none without a text."""
    sent = [text for text in texts if text]
    if not sent:
        return Translated(list(texts), source)
    question = {"q": sent, "source": source, "target": target, "format": "text"}
    if settings.TRANSLATION_KEY:
        question["api_key"] = settings.TRANSLATION_KEY
    answer = _ask("translate", msgspec.json.encode(question), TranslatorAnswer)
    if len(answer.translatedText) != len(sent):
        log.warning("translation.unexpected", sent=len(sent), got=len(answer.translatedText))
        raise TranslatorAway
    known = answer.detectedLanguage
    done = iter(answer.translatedText)
    return Translated(
        [next(done) if text else "" for text in texts], known[0].language if known else source
    )


def forget_service() -> None:
    """As a process that has just begun."""
    _Service.languages = None
    _Service.closed_until = _Service.languages_until = float("-inf")


def _ask(path: str, body: bytes | None, answer: type[T]) -> T:
    """Raises: TranslatorAway."""
    if time.monotonic() < _Service.closed_until or not _Service.places.acquire(blocking=False):
        raise TranslatorAway
    try:
        return msgspec.json.decode(_send(f"{settings.TRANSLATION_URL}/{path}", body), type=answer)
    except DocumentUnreadable as error:  # it is there
        log.warning("translation.refused", path=path, error=str(error))
        raise TranslatorAway from None
    except _NO_ANSWER as error:
        _Service.closed_until = time.monotonic() + PAUSE_S
        log.warning("translation.no_answer", path=path, error=repr(error))
        raise TranslatorAway from None
    finally:
        _Service.places.release()


def _send(url: str, body: bytes | None) -> bytes:
    if body is None:
        return get(url, ANSWER_S, MOST_BYTES, is_own=True)
    return post_json(url, body, ANSWER_S, min(MOST_BYTES, MOST_GROWTH * len(body)))
