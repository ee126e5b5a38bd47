"""The channels that a client can listen to, by Mastodon's names."""

from collections.abc import Mapping
from typing import NamedTuple, Self

from accounts.texts.links import normalize_tag, without_tag_sign
from accounts.types import Viewer
from web.streaming.errors import ChannelUnknown, StreamScopeMissing

HOME, NOTIFICATIONS, LIST, DIRECT = "user", "user:notification", "list", "direct"
# All posts are of this site, so the channels of other sites are quiet.
PUBLIC = ("public", "public:local")
PUBLIC_MEDIA = ("public:media", "public:local:media")
PUBLIC_REMOTE = ("public:remote", "public:remote:media")
HASHTAG = ("hashtag", "hashtag:local")
OF_FOLLOWEES = (HOME, LIST)
# With the scope for notifications.
NOTIFIED, NOTIFIED_SCOPE = (HOME, NOTIFICATIONS), "read:notifications"
_WITHOUT_ARGUMENT = {HOME, NOTIFICATIONS, DIRECT, *PUBLIC, *PUBLIC_MEDIA, *PUBLIC_REMOTE}
_OPEN = {*PUBLIC, *PUBLIC_MEDIA, *PUBLIC_REMOTE, *HASHTAG}
_LONGEST_TAG, _LIST_DIGITS = 200, 19


class Channel(NamedTuple):
    """`argument`: the tag as the index has it, or the id of the list."""

    name: str
    argument: str = ""

    @property
    def stream(self) -> list[str]:
        """As a WebSocket message names it."""
        return [self.name, self.argument] if self.argument else [self.name]

    @classmethod
    def parse(cls, name: str, parameters: Mapping[str, str]) -> Self:
        """`parameters`: with `tag` or `list`. Raises: ChannelUnknown."""
        if name in _WITHOUT_ARGUMENT:
            return cls(name)
        if name in HASHTAG:
            return cls(name, _read_tag(parameters.get("tag", "")))
        if name == LIST:
            return cls(name, _read_list(parameters.get("list", "")))
        raise ChannelUnknown("Unknown stream type")

    def require(self, viewer: Viewer) -> None:
        """Raises: StreamScopeMissing, unless the token allows to listen to it."""
        if self.name in _OPEN:
            return
        needed = NOTIFIED_SCOPE if self.name == NOTIFICATIONS else "read:statuses"
        if viewer.account_id is None or needed not in viewer.scopes:
            raise StreamScopeMissing(f"This stream needs the scope {needed}")


def channel_of_path(path: str, parameters: Mapping[str, str]) -> Channel:
    """Of `user/notification`, `public/local` …, below the root of the streams.

    Raises: ChannelUnknown.
    """
    name = path.strip("/").replace("/", ":")
    if name.startswith("public") and parameters.get("only_media") in ("1", "true"):
        name += ":media"
    return Channel.parse(name, parameters)


def _read_tag(text: str) -> str:
    if not text or len(text) > _LONGEST_TAG:
        raise ChannelUnknown("Missing tag name parameter")
    return normalize_tag(without_tag_sign(text))


def _read_list(text: str) -> str:
    if not (text.isascii() and text.isdigit() and len(text) <= _LIST_DIGITS):
        raise ChannelUnknown("Missing list id parameter")
    return str(int(text))
