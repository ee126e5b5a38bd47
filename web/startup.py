"""What the web server's main process does before it opens its port: load the code, check databases.

The workers are forked from it, so they share its memory and answer at once.
"""

import gc
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import django
import structlog
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from infra.sharding.errors import WrongDatabase
from infra.version import VERSION

log = structlog.get_logger()


def prepare_to_serve(when_ready: bool) -> None:
    """Loads Tideline. Ends the process if the settings are unusable or a database is a wrong one.

    `when_ready`: returns only when all databases that answer have the schema of this code. Then
    the server is not ready until a worker has reported.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # All that loading makes stays: visits of it would be a tenth of the start.
    gc.disable()
    try:
        django.setup()
        import_module(settings.ROOT_URLCONF)
        import_module("pages.template_environment").compile_templates()
        import_module("infra.sharding.pooled.use").use_pools()
        _check_databases(when_ready)
    except (ImproperlyConfigured, WrongDatabase) as error:
        sys.exit(str(error))
    # The collector would write to all loaded objects, and so copy their memory in each worker.
    gc.collect()
    gc.freeze()
    gc.enable()


@contextmanager
def logged_service(service: str, **facts: object) -> Iterator[None]:
    """Logs the start of a server, with its version and the settings that differ from the defaults,
    and its end. Secrets are masked."""
    changed = dict(sorted(settings.CHANGED_SETTINGS.items()))
    log.info(f"{service}.started", version=VERSION, settings=changed, **facts)
    try:
        yield
    finally:
        log.info(f"{service}.stopped", version=VERSION)


def _check_databases(when_ready: bool) -> None:
    readiness = import_module("infra.sharding.readiness")  # needs the settings
    if when_ready:
        readiness.wait_until_ready(_pause, _say)
        import_module("web.health").wait_for_delivery()
    else:
        readiness.refuse_wrong_databases()


def _pause(seconds: float) -> bool:
    time.sleep(seconds)
    return True


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
