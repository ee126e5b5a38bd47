"""Django's hasher of passwords, which in a web process hashes only in a place of the machine.

The places in which web processes hash passwords: all processes of a machine share a few.

A hash keeps a processor busy for a tenth of a second and more, on purpose. Without a limit a crowd
that signs in would take all processors from the other requests.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path

import structlog
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from prometheus_client import Counter, Histogram

from accounts.errors import PasswordsBusy

# A few hashes long. Who waits is a thread for passwords (web/serving/reception.py), or one whose
# request brought a password where none is expected.
WAIT_S = 1.5
_POLL_S = 0.005
REFUSED = Counter(
    "tideline_password_hashes_refused_total",
    (
        "Hashes that found all `PASSWORD_HASHES` places of the machine taken for 1.5 s (503). "
        "What did not even get a thread is in `tideline_refused_total` as `passwords_busy`"
    ),
)
log = structlog.get_logger()


class HashPlaces:
    """So many hashes at once by all processes that name this folder.

    A place is a locked file. The kernel unlocks it when its process dies.
    """

    def __init__(self, folder: Path, count: int) -> None:
        self._folder, self._count = folder, count

    @contextmanager
    def taking(self) -> Iterator[None]:
        """Holds a place. Cost: three system calls; up to WAIT_S if all are taken.

        Without the folder it holds none, and logs that. Raises: PasswordsBusy.
        """
        try:
            place = self._wait_for_place()
        except OSError as error:
            log.warning("hash_places.unusable", folder=str(self._folder), error=str(error))
            yield
            return
        try:
            yield
        finally:
            os.close(place)

    def _wait_for_place(self) -> int:
        """The descriptor of a locked file. Raises: PasswordsBusy, OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        latest = time.monotonic() + WAIT_S
        while time.monotonic() < latest:
            for number in range(self._count):
                if (place := self._lock(number)) is not None:
                    return place
            time.sleep(_POLL_S)
        REFUSED.inc()
        raise PasswordsBusy

    def _lock(self, number: int) -> int | None:
        """None: another hash has this place. Raises: OSError."""
        place = os.open(self._folder / str(number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(place)
            if isinstance(error, BlockingIOError):
                return None
            raise
        return place


def places_of_this_machine() -> HashPlaces:
    """Those of RUNTIME_DIR."""
    return HashPlaces(Path(settings.RUNTIME_DIR) / "password-hashes", most_hashes())


def most_hashes() -> int:
    """PASSWORD_HASHES; without it half of the processors that this process may use."""
    chosen: int = settings.PASSWORD_HASHES
    return chosen or max(1, _processor_count() // 2)


def _processor_count() -> int:
    with suppress(AttributeError):  # macOS has no such call
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


HASHING = Histogram(
    "tideline_password_hash_seconds",
    (
        "Time of one hash of a password, without the wait for a place, a histogram. Its count "
        "says how many passwords were hashed"
    ),
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)


class PasswordHasher(PBKDF2PasswordHasher):
    """Stores what Django's hasher stores. Every check of a password and every new one call it.

    Django also calls it for a name that does not exist: then as always, a person cannot see from
    the time or from a refusal whether there is such an account.
    """

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Raises: PasswordsBusy. Cost: the slow hash, in which other threads run."""
        with _place(), HASHING.time():
            return super().encode(password, salt, iterations)


class _HashLimit:
    """`is_on`: requests wait for this process. A command hashes one password at a time."""

    is_on = False


def hash_like_a_web_server() -> None:
    """This process hashes only in a place of the machine from now on."""
    _HashLimit.is_on = True


def _place() -> AbstractContextManager[None]:
    return _places().taking() if _HashLimit.is_on else nullcontext()


@cache
def _places() -> HashPlaces:
    return places_of_this_machine()
