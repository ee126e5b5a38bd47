"""Django's hasher of passwords, which in a web process hashes only in a place of the machine."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from prometheus_client import Histogram

from accounts.hash_places import HashPlaces, places_of_this_machine

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
