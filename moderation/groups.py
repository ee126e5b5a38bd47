"""The groups of staff users and the permissions of each. Superusers have all permissions."""

from collections.abc import Mapping, Sequence

from django.contrib.auth.models import Group, Permission
from django.db.models import Q

from infra.sharding.placement import GLOBAL_ALIAS

# By group and app: codenames of permissions.
GROUPS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "moderator": {
        "moderation": (
            *("view_report", "change_report"),
            *("view_decision", "add_decision"),
            *("view_appeal", "add_appeal", "change_appeal"),
            *("view_timedrestriction", "view_jointdecision"),
        ),
        "accounts": ("view_user",),
    },
    "operator": {
        "accounts": (
            *("view_user", "view_application", "change_application", "delete_application"),
            *("view_accesstoken", "delete_accesstoken"),
        ),
        "axes": ("view_accessattempt", "delete_accessattempt"),
        "site_texts": (
            *("view_sitetexts", "change_sitetexts"),
            *(f"{verb}_siterule" for verb in ("view", "add", "change", "delete")),
        ),
        # resets a person's second step
        "otp_totp": ("delete_totpdevice",),
        "promotions": ("view_campaign", "add_campaign", "change_campaign"),
        "jobs": ("operate", "view_jobrun"),
        "tenants": ("view_tenant",),
    },
}


def create_groups() -> None:
    """Creates the groups and gives them exactly these permissions.

    Runs after every migration of the default database. The members of a group do not change.
    """
    for name, apps in GROUPS.items():
        group, _ = Group.objects.get_or_create(name=name)
        wanted = Q()
        for app, codenames in apps.items():
            wanted |= Q(content_type__app_label=app, codename__in=codenames)
        group.permissions.set(Permission.objects.filter(wanted))


def create_groups_after_migrating(using: str, **_: object) -> None:
    """Runs create_groups if the migrated database is the default one."""
    if using == GLOBAL_ALIAS:
        create_groups()
