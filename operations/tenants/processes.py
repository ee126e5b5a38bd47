"""A command of manage.py for a tenant: a process of its own, whose environment names it."""

import os
import subprocess
import sys
from collections.abc import Sequence

from django.conf import settings

from operations.tenants.types import TenantRefused


def manage_command(words: Sequence[str]) -> list[str]:
    return [sys.executable, str(settings.BASE_DIR / "manage.py"), *words]


def environment_of(name: str) -> dict[str, str]:
    return {**os.environ, "TENANT": name}


def run_for(name: str, *words: str) -> None:
    """Waits for its end; it writes to our output. Raises: TenantRefused if it fails."""
    done = subprocess.run(manage_command(words), env=environment_of(name), check=False)
    if done.returncode:
        raise TenantRefused(f"`{' '.join(words)}` failed for the tenant {name}.")
