"""Values of tenants, and why something cannot be done with one."""

from typing import NamedTuple

from django.db import models


class TenantState(models.TextChoices):
    CREATING = "creating"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    DELETING = "deleting"
    DELETED = "deleted"


class NewTenant(NamedTuple):
    """`hosts`: the names by which people reach it. `url`: the start of its links."""

    name: str
    hosts: list[str]
    url: str


class TenantRefused(Exception):
    """The text is for the operator."""
