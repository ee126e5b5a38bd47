"""A lane without a queue: the thread that receives requests serves those that wait for nothing."""

from collections.abc import Callable

import structlog
from prometheus_client import Counter

from config.serving.pending import PendingRequest
from config.serving.refusals import BROKEN
from config.serving.shared_lane import SharedLane
from infra.caching import read_window
from infra.caching.viewer_validators import find_window_begin
from infra.shared_thread import BusyThread
from infra.telemetry.series import adder

BEGUN = Counter(
    "tideline_immediate_requests_total", "Requests that the receiving thread began to serve"
)
HANDED_OVER = Counter(
    "tideline_immediate_requests_handed_over_total",
    "Requests that the receiving thread gave to a shared thread, because they wait for Redis",
)
_add_begun = adder(BEGUN)
log = structlog.get_logger()


class ImmediateLane:
    """For GETs that mostly wait for nothing in the read window (infra/caching/read_window.py).

    `shared`: gets those that have to ask Redis.
    """

    def __init__(self, shared: SharedLane) -> None:
        self._shared = shared
        self._renewed_at = float("-inf")

    def start(self, serve: Callable[[PendingRequest], None]) -> None:
        self._serve = serve
        self._thread = BusyThread(self._serve_one, self._hand_over)

    def add(self, request: PendingRequest) -> None:
        """Returns when the request is served or handed over."""
        if self._is_in_window(request.since):
            _add_begun(1)
            self._thread.serve(request)
        else:
            self._shared.add(request)

    def _is_in_window(self, now: float) -> bool:
        """Not for one request of each half of the window, which asks Redis for those after it."""
        open_for_s = now - find_window_begin()
        renewed_s = read_window.RENEWED_S
        if open_for_s > renewed_s and now - self._renewed_at > renewed_s:
            self._renewed_at = now
            return False
        return open_for_s < read_window.WINDOW_S

    def _serve_one(self, request: PendingRequest) -> None:
        try:
            self._serve(request)
        except Exception:
            log.exception("serving.failed", path=request.scope.path)
            BROKEN.answer(request)

    def _hand_over(self, request: PendingRequest) -> None:
        HANDED_OVER.inc()
        self._shared.add(request)
