"""Why a connection is refused, or ends. `status`: of HTTP."""


class StreamRefused(Exception):
    """`text`: what the client gets. `retry_s`: how long it should wait, with the status of a limit
    or of something that is away."""

    status = 400

    def __init__(self, text: str, retry_s: int = 2) -> None:
        super().__init__(text)
        self.text, self.retry_s = text, retry_s


class ChannelUnknown(StreamRefused):
    status = 400


class TokenRefused(StreamRefused):
    status = 401


class StreamScopeMissing(StreamRefused):
    status = 403


class ListMissing(StreamRefused):
    status = 404


class WrongParameter(StreamRefused):
    status = 422


class WrongPosition(StreamRefused):
    """The text is not a position of the change feed."""


class FeedGone(StreamRefused):
    """`code`: why, as the change feed names it."""

    status = 410

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


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


class TooManyTokens(StreamRefused):
    """Wrong ones, from one address."""

    status = 429


class StoreAway(StreamRefused):
    status = 503


class TooMuchMissed(Exception):
    """The client reads its timelines again."""
