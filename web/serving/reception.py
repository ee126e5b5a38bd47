"""The reception: Granian's thread gives each request to a queue, and serves none itself."""

import asyncio
from typing import Any

from accounts.password_hasher import most_hashes
from infra.api.bulk_places import set_bulk_places
from pages import cookie
from web.body_limits import UPLOAD_PATHS, is_upload, most_body_bytes
from web.draining import is_draining
from web.password_paths import may_bring_password
from web.serving.bodies import BodyLimits, BodyReader
from web.serving.limits import MOST_HEAD_BYTES, Limits
from web.serving.pending_request import Application, PendingRequest, environment_of
from web.serving.refusals import DRAINING, HEAD_TOO_LARGE, PASSWORDS_BUSY, TOKEN_MISSING
from web.serving.request_queues import RequestQueue
from web.serving.shared_queue import SharedQueue
from web.serving.streamed_answers import PieceSender, is_stream

_MOST_WAITING = 256
_MOST_CHECKS = 16
# Of the threads, that bulk services may have while the site is slow.
_BULK_SHARE = 0.25
# Long enough for a health check to find that a store hangs, and to say so.
_CHECK_WAIT_S = 5.0
_SWEEPS_PER_WAIT = 4
# An image takes up to a second and a few hundred megabytes, so one is served at a time. The others
# wait with their bodies in memory.
_MOST_UPLOADS, _UPLOAD_WAIT_S = 4, 10.0
_MOST_UPLOADS_UNFINISHED, _OF_ADDRESS = 16, 4
# An archive takes many reads. Its thread is busy until the client has received it.
_ARCHIVE_PATH, _MOST_ARCHIVES, _ARCHIVE_WAIT_S = "/settings/export", 4, 10.0
# A hash takes a processor for a while. Those who sign in rather wait than try again.
_MOST_PASSWORDS, _PASSWORD_WAIT_S = 16, 3.0
_CALLBACK = "/auth/oidc/callback"
_RETRIED = "x-retried-by-proxy"
_METHODS_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS", "TRACE")
_BEARER = "bearer "
_SESSION = f"{cookie.NAME}="
_LIVE = "/health/live"
_CHECK_PATHS = ("/health/ready", "/metrics")


class Reception:
    """gives each request to a queue, which has threads of its own.

    - Health checks: answered also while all threads of the application are busy or hang.
    - Uploads, one thread: neither a large image nor a file store that hangs keeps others waiting.
    - Archives, one thread: for the same reason.
    - Passwords, few threads: their hashes are slow on purpose, and the others go on.
    - GETs that wait for nothing but Redis: they share a thread (SharedQueue).
    - All other requests.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, application: Application, limits: Limits
    ) -> None:
        self._loop = loop
        self._application = application
        self._sweep_s = limits.wait_s / _SWEEPS_PER_WAIT
        self._ordinary = RequestQueue(limits.threads, _MOST_WAITING, limits.wait_s)
        self._shared = SharedQueue(_MOST_WAITING, limits.wait_s, self._ordinary)
        self._is_quick = getattr(application, "is_quick", lambda _path: False)
        set_bulk_places(max(1, int(limits.threads * _BULK_SHARE)))
        checks = RequestQueue(1, _MOST_CHECKS, _CHECK_WAIT_S)
        live = RequestQueue(1, _MOST_CHECKS, _CHECK_WAIT_S)
        self._queues_by_path = {_LIVE: live, **dict.fromkeys(_CHECK_PATHS, checks)}
        uploads = RequestQueue(1, _MOST_UPLOADS, _UPLOAD_WAIT_S)
        archives = RequestQueue(1, _MOST_ARCHIVES, _ARCHIVE_WAIT_S)
        passwords = _queue_of_passwords(limits.threads)
        # It waits for the provider of the operator, which may hang.
        self._queues_by_path[_CALLBACK] = passwords
        self._all_queues = (
            *(self._ordinary, self._shared, checks, live),
            *(uploads, archives, passwords),
        )
        of_texts = BodyLimits(most_body_bytes(""), limits.body_s)
        of_uploads = BodyLimits(
            most_body_bytes(min(UPLOAD_PATHS)),
            limits.upload_s,
            _MOST_UPLOADS_UNFINISHED,
            _OF_ADDRESS,
        )
        self._bodies = BodyReader(loop, self._ordinary.add, of_texts)
        self._passwords = BodyReader(loop, passwords.add, of_texts)
        self._archives = BodyReader(loop, archives.add, of_texts)
        self._uploads = BodyReader(loop, uploads.add, of_uploads)

    def start(self) -> None:
        for queue in self._all_queues:
            queue.start(self._serve)
        self._sweep()

    def receive(self, watcher: Any) -> None:
        """Granian calls it for each request, in one thread of its own."""
        scope = watcher.scope
        request = PendingRequest(watcher.proto, scope)
        if is_draining() and _may_ask_another(scope):
            DRAINING.answer(request)
        elif scope.method not in _METHODS_WITHOUT_BODY and _has_body(scope.headers):
            self._read_body(request)
        else:
            self._queue_of(scope).add(request)

    def _queue_of(self, scope: Any) -> RequestQueue:
        path = scope.path
        if scope.method == "GET" and self._is_quick(path):
            return self._shared
        return self._queues_by_path.get(path, self._ordinary)

    def _read_body(self, request: PendingRequest) -> None:
        """Guests send texts only. The application then answers that they need a token."""
        scope = request.scope
        if is_upload(scope.path) and _has_token(scope.headers):
            self._uploads.read(request)
        elif is_upload(scope.path) and _length_of(scope.headers) > most_body_bytes(""):
            TOKEN_MISSING.answer(request)
        elif scope.path == _ARCHIVE_PATH:
            self._archives.read(request)
        elif may_bring_password(scope.path):
            self._passwords.read(request)
        else:
            self._bodies.read(request)

    def _serve(self, request: PendingRequest) -> None:
        """Sends the answer, and then lets the application end the request."""
        answer = _Answer()
        # A request that begins again in another thread knows what was charged for it.
        request.environment = request.environment or environment_of(request)
        if request.head_bytes > MOST_HEAD_BYTES:
            HEAD_TOO_LARGE.answer(request)
            return
        parts = self._application(request.environment, answer)
        try:
            if is_stream(parts):
                head = answer.status, answer.headers
                PieceSender(self._loop, request, head).send_all(parts)
            else:
                request.protocol.response_bytes(answer.status, answer.headers, b"".join(parts))
        finally:
            if close := getattr(parts, "close", None):
                close()

    def _sweep(self) -> None:
        for queue in self._all_queues:
            queue.sweep()
        self._bodies.sweep()
        self._passwords.sweep()
        self._uploads.sweep()
        self._archives.sweep()
        self._loop.call_later(self._sweep_s, self._sweep)


def _queue_of_passwords(threads: int) -> RequestQueue:
    """Its threads come on top of the others. More than hash at once would only wait."""
    count = max(1, min(most_hashes(), threads // 2))
    return RequestQueue(count, _MOST_PASSWORDS, _PASSWORD_WAIT_S, PASSWORDS_BUSY, PASSWORDS_BUSY)


class _Answer:
    """The `start_response` of WSGI."""

    __slots__ = ("headers", "status")

    def __call__(
        self, status: str, headers: list[tuple[str, str]], exc_info: object = None
    ) -> None:
        self.status = int(status[:3])
        self.headers = headers


def _may_ask_another(scope: Any) -> bool:
    """Whether a proxy says that it repeats a GET with 502 at another server.

    It then sends nothing more to this server for a while. Without a check of /health/ready it would
    not know, and requests that arrive just as the server closes its port would be lost.
    """
    return scope.method == "GET" and scope.headers.get(_RETRIED) == str(DRAINING.status)


def _has_token(headers: Any) -> bool:
    """Whether there is a token that the application would check: in a header, or in a cookie."""
    is_bearer = headers.get("authorization", "")[: len(_BEARER)].lower() == _BEARER
    return is_bearer or _SESSION in headers.get("cookie", "")


def _length_of(headers: Any) -> int:
    return int(headers.get("content-length", "0"))


def _has_body(headers: Any) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
