"""Writes all that a tenant has into a folder: a dump of each database, and its images.

FOLDER/tenant.json        name, hosts, and of each file its size and SHA-256
FOLDER/shard0.dump        for pg_restore
FOLDER/media/…            the images, under their names
"""

import json
import subprocess
from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path
from typing import Any

from infra.version import VERSION
from operations.tenants.actions.change_state import refuse_if_changed, refuse_unless_served
from operations.tenants.actions.rest import refuse_unless_at_rest
from operations.tenants.files import copy_images
from operations.tenants.models import Tenant
from operations.tenants.queries import find_tenant
from operations.tenants.stores import databases_of, dump_environment
from operations.tenants.types import TenantRefused


def export_tenant(name: str, folder: Path, say: Callable[[str], object]) -> dict[str, Any]:
    """The tenant is suspended, so that all dumps are of one moment. Returns tenant.json.

    Safety: written last, tenant.json says that all is there. An export that was killed begins
    again, and so does one of a tenant that was changed in between. Raises: TenantRefused. Cost:
    reads all rows and images.
    """
    tenant = find_tenant(name)
    refuse_unless_served(tenant)
    refuse_unless_at_rest(tenant)
    # Its owner alone may read it.
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (folder / "tenant.json").exists():
        raise TenantRefused(f"{folder} has an export already.")
    for alias, database in databases_of(name).items():
        _dump(alias, database, folder / f"{alias}.dump")
        say(f"{alias}: wrote {folder / alias}.dump")
    images = copy_images(name, folder / "media")
    say(f"copied {images:,} images")
    refuse_if_changed(tenant)
    return _describe(tenant, folder)


def _dump(alias: str, database: str, file: Path) -> None:
    """Raises: TenantRefused."""
    command = ["pg_dump", "--format=custom", "--no-owner", f"--file={file}"]
    try:
        subprocess.run(
            command,
            env=dump_environment(alias, database),
            check=True,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise TenantRefused(
            "pg_dump is not installed: it comes with PostgreSQL's client."
        ) from None
    except subprocess.CalledProcessError as error:
        raise TenantRefused(f"{alias}: pg_dump failed: {error.stderr.strip()}") from error


def _describe(tenant: Tenant, folder: Path) -> dict[str, Any]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    described = {
        "tenant": tenant.name,
        "hosts": tenant.hosts,
        "url": tenant.url,
        "version": VERSION,
        "files": {str(file.relative_to(folder)): _seal(file) for file in files},
    }
    unfinished = folder / "tenant.json.new"
    unfinished.write_text(json.dumps(described, indent=2))
    unfinished.rename(folder / "tenant.json")
    return described


def _seal(file: Path) -> dict[str, Any]:
    with file.open("rb") as content:
        return {"bytes": file.stat().st_size, "sha256": file_digest(content, "sha256").hexdigest()}
