"""The list of tenants."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from infra.sharding.placement import Placement
from operations.tenants.types import TenantState


class Tenant(models.Model):
    """GLOBAL, one row a tenant, never deleted: neither a name nor a number is used twice.

    Only the default database of the installation has rows. config/tenant.py reads them too, before
    Django knows its databases. `url`: the start of all links. `certificate`: what was deleted.
    """

    placement = Placement.GLOBAL

    number = models.AutoField(primary_key=True)
    name = models.CharField(max_length=20, unique=True)
    hosts = ArrayField(models.CharField(max_length=253))
    url = models.CharField(max_length=300)
    state = models.CharField(max_length=16, choices=TenantState, default=TenantState.CREATING)
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())
    certificate = models.JSONField(null=True)

    def __str__(self) -> str:
        return self.name
