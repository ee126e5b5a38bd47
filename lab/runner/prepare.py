"""The steps of `make run` that need Django: python -m lab.runner.prepare FILE_DESCRIPTOR.

All steps share one process, because Django needs a second to load. The file descriptor receives
the facts for the start screen as JSON.
"""

import io
import json
import sys
from datetime import UTC, datetime
from typing import Any

import django
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from lab.runner.errors import DataOfOtherVersion
from lab.runner.terminal import step


def main() -> None:
    try:
        with step("loading the application"):
            django.setup()
        facts = prepare()
    except (ImproperlyConfigured, DataOfOtherVersion) as error:
        sys.exit(str(error))
    with open(int(sys.argv[1]), "w") as output:
        json.dump(facts, output)


def prepare() -> dict[str, Any]:
    """Migrates the databases and loads the demo community; returns facts for the start screen.

    Raises DataOfOtherVersion.
    """
    # Models can be imported only after django.setup().
    from infra.sharding.shards import all_aliases  # noqa: PLC0415
    from operations.demo.community import FIRST_ACCOUNTS, PASSWORD  # noqa: PLC0415
    from operations.demo.load import ensure_operator  # noqa: PLC0415

    with step("bringing the databases up to date"):
        for alias in all_aliases():
            refuse_other_version(alias)
        _output_of("migrate_shards")
        _output_of("backfill", "recent-posts")
        _output_of("tenants", "migrate")
    with step("loading the demo community"):
        _output_of("load_demo")
    token, operator = _output_of("demo_token"), ensure_operator(datetime.now(UTC))
    return {
        "accounts": FIRST_ACCOUNTS,
        "password": PASSWORD,
        "token": token,
        "operator": operator,
    }


def refuse_other_version(alias: str) -> None:
    """Raises DataOfOtherVersion when `alias` has migrations of Tideline that are unknown here.

    Migrations of installed packages are not compared: packages remove old ones. Reads only.
    """
    loader = MigrationLoader(connections[alias])
    of_packages = {app.label for app in apps.get_app_configs() if app.name not in settings.OWN_APPS}
    unknown = sorted(
        f"{label}.{name}"
        for label, name in loader.applied_migrations
        if (label, name) not in loader.disk_migrations and label not in of_packages
    )
    if unknown:
        raise DataOfOtherVersion(alias, unknown)


def _output_of(*words: str) -> str:
    output = io.StringIO()
    call_command(*words, stdout=output)
    return output.getvalue().strip()


if __name__ == "__main__":
    main()
