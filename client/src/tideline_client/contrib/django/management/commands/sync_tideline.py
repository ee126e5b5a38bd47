"""`manage.py sync_tideline`: gives Tideline the accounts of the product's users."""

import signal
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS

from tideline_client import NotAllowed, TidelineError, TokenRefused
from tideline_client.contrib.django.connection import tideline
from tideline_client.contrib.django.drain import drain_batch
from tideline_client.contrib.django.outbox import request_sync_of_all, request_sync_of_missing

QUIET_S, AWAY_S, STEP_S = 1.0, 5.0, 0.1


class Command(BaseCommand):
    help = (
        "Sends to Tideline the users that were created or changed, and users that it has not yet. "
        "It may be killed and started again, and several may run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--follow", action="store_true", help="go on until it is stopped")
        parser.add_argument("--everybody", action="store_true", help="send all users once more")
        parser.add_argument("--database", default=DEFAULT_DB_ALIAS, help="which has the users")

    def handle(self, *_: Any, follow: bool, everybody: bool, database: str, **__: Any) -> None:
        if everybody:
            request_sync_of_all(database)
        else:
            request_sync_of_missing(database)
        if follow:
            self._follow(database)
        else:
            self._drain(database)

    def _drain(self, database: str) -> None:
        """Until none is due. Raises: CommandError."""
        sent = refused = 0
        try:
            while (batch := drain_batch(tideline(), database)) is not None:
                sent, refused = sent + batch.sent, refused + batch.refused
        except TidelineError as error:
            raise CommandError(_said(error)) from error
        self.stdout.write(f"{sent} sent, {refused} refused")

    def _follow(self, database: str) -> None:
        """Until SIGTERM or SIGINT: a batch that has begun is finished. Raises: CommandError."""
        self._is_stopped = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        while not self._is_stopped:
            try:
                is_idle = drain_batch(tideline(), database) is None
            except (TokenRefused, NotAllowed) as error:
                raise CommandError(_said(error)) from error
            except TidelineError as error:
                self.stderr.write(_said(error))
                self._pause(AWAY_S)
                continue
            if is_idle:
                self._pause(QUIET_S)

    def _stop(self, *_: Any) -> None:
        """A flag. The handler runs in the thread that waits: an Event would want the lock which
        that thread may have, and then neither goes on."""
        self._is_stopped = True

    def _pause(self, seconds: float) -> None:
        """In steps, because Python goes on with a sleep after a signal."""
        end = time.monotonic() + seconds
        while not self._is_stopped and time.monotonic() < end:
            time.sleep(STEP_S)


def _said(error: TidelineError) -> str:
    if isinstance(error, TokenRefused):
        return f"Tideline refuses TIDELINE['TOKEN']: {error}"
    if isinstance(error, NotAllowed):
        return f"TIDELINE['TOKEN'] needs the scope service:accounts: {error}"
    return f"Tideline is away, the users wait: {error}"
