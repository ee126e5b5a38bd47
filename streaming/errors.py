"""Why a connection is refused, or ends. `status`: of HTTP."""


class StreamRefused(Exception):
    """`text`: what the client gets."""

    status = 400

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class ChannelUnknown(StreamRefused):
    status = 400


class TokenRefused(StreamRefused):
    status = 401


class StreamScopeMissing(StreamRefused):
    status = 403


class ListMissing(StreamRefused):
    status = 404


class StreamMissing(StreamRefused):
    status = 404


class MethodRefused(StreamRefused):
    status = 405


class StreamsFull(StreamRefused):
    """`status` 503: another process may have room."""

    status = 503


class TooManyStreams(StreamRefused):
    """Of one account."""

    status = 429


class StoreAway(StreamRefused):
    status = 503
