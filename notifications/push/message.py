"""The text of a message, and its encryption for one receiver.

The keys of a receiver, which clients send in base64 of either alphabet, with padding or not.
"""

import binascii
import html
import os
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import http_ece
import orjson
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from django.utils.translation import gettext, override
from django.utils.translation import gettext_noop as _

from accounts.vapid import vapid_of
from counters.kinds import DECLARED
from infra.api.live_parts import fill_body
from infra.declarations import choose_words
from notifications.api.warning_place import warning_field
from notifications.push.types import PushTarget
from notifications.queries.viewed_notifications import ViewedNotification
from notifications.types import NotificationKind
from posts.queries.reactions import find_shown_reaction

SECRET_BYTES = 16


def decode_key(text: str) -> bytes:
    """The bytes. Raises: ValueError."""
    standard = text.translate(str.maketrans("+/", "-_")).rstrip("=")
    try:
        return urlsafe_b64decode(standard + "=" * (-len(standard) % 4))
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def is_public_key(text: str) -> bool:
    """Whether this is a point of the curve P-256."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode_key(text))
    except ValueError:
        return False
    return True


def is_secret(text: str) -> bool:
    """Whether this can be the shared secret."""
    try:
        return len(decode_key(text)) == SECRET_BYTES
    except ValueError:
        return False


BODY_CHARACTERS = 140
TITLES = {
    NotificationKind.MENTION: _("{} mentioned you"),
    NotificationKind.FOLLOW: _("{} followed you"),
    NotificationKind.FOLLOW_REQUEST: _("{} wants to follow you"),
    NotificationKind.FAVOURITE: _("{} favourited your post"),
    NotificationKind.REBLOG: _("{} boosted your post"),
    NotificationKind.STATUS: _("{} just posted"),
    NotificationKind.POLL: _("A poll by {} has ended"),
    NotificationKind.QUOTE: _("{} quoted your post"),
    NotificationKind.QUOTED_UPDATE: _("{} edited a post you quoted"),
    NotificationKind.MODERATION_WARNING: _("A decision of the moderators about you"),
    NotificationKind.REACTION: _("{} reacted to your post"),
}
# How long a push service keeps a message for a receiver that is away.
TTL_S = 48 * 3600
SIGNED_S = 12 * 3600
TAGS = re.compile(r"<[^>]+>")


class PushRequest(NamedTuple):
    """A request to a push service."""

    url: str
    headers: Mapping[str, str]
    body: bytes


def write_message(notification: ViewedNotification, token: str, language: str) -> bytes:
    """The JSON that a client shows, as Mastodon's, before it is encrypted."""
    account = orjson.loads(notification.account)
    kind = NotificationKind(notification.row.kind)
    text = _text_of(notification, account)
    reaction = find_shown_reaction(kind) if kind in DECLARED else None
    what = f": {choose_words(reaction.words, language)}" if reaction else ""
    with override(language):
        title = gettext(TITLES[kind.type])
    return orjson.dumps(
        {
            "access_token": token,
            "preferred_locale": language,
            "notification_id": str(notification.row.id),
            "notification_type": kind.public,
            "icon": account["avatar_static"],
            "title": title.format(account["display_name"] or account["username"]) + what,
            "body": text[:BODY_CHARACTERS],
        }
    )


def _text_of(notification: ViewedNotification, account: Mapping[str, Any]) -> str:
    """What happened, as plain text: the reason, the post, or who the actor is."""
    row = notification.row
    if row.decision_id is not None:
        filled = fill_body(warning_field(row.decision_id), row.from_id)
        warning = orjson.loads(b"{%b}" % filled)["moderation_warning"]
        return str(warning["text"]) if warning else ""
    content = (
        orjson.loads(notification.status)["content"] if notification.status else account["note"]
    )
    return html.unescape(TAGS.sub(" ", content)).strip()


def encrypt_for(target: PushTarget, message: bytes, now_s: int) -> PushRequest:
    """The request that brings the message to the receiver. Raises ValueError for broken keys."""
    sender, salt = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
    version = "aes128gcm" if target.is_standard else "aesgcm"
    body = http_ece.encrypt(
        message,
        salt=salt,
        private_key=sender,
        dh=decode_key(target.p256dh),
        auth_secret=decode_key(target.auth),
        version=version,
    )
    headers = {"Content-Encoding": version, "TTL": str(TTL_S), "Urgency": "normal"}
    signature = _sign(target.endpoint, now_s)
    if target.is_standard:
        return PushRequest(target.endpoint, headers | {"Authorization": signature}, body)
    token, _, key = signature.removeprefix("vapid t=").partition(",k=")
    point = sender.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    headers |= {
        "Authorization": f"WebPush {token}",
        "Encryption": f"salt={_encode(salt)}",
        "Crypto-Key": f"dh={_encode(point)};p256ecdsa={key}",
    }
    return PushRequest(target.endpoint, headers, body)


def _sign(endpoint: str, now_s: int) -> str:
    """The Authorization header of RFC 8292."""
    address = urlsplit(endpoint)
    claims = {
        "aud": f"{address.scheme}://{address.netloc}",
        "exp": now_s + SIGNED_S,
        "sub": settings.VAPID_CONTACT,
    }
    signed: str = vapid_of(settings.VAPID_PRIVATE_KEY).sign(claims)["Authorization"]
    return signed


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
