"""The groups of those who work here, and what each may do. Superusers may do all of it."""

from collections.abc import Mapping, Sequence

from django.contrib.auth.models import Group, Permission
from django.db.models import Q

from infra.sharding.placement import GLOBAL_ALIAS

# Permissions by group; an app and its permissions.
GROUPS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "moderator": {
        "moderation": (
            *("view_report", "change_report"),
            *("view_decision", "add_decision"),
            *("view_appeal", "add_appeal", "change_appeal"),
        ),
    },
    "operator": {
        "accounts": (
            *("view_user", "view_application", "change_application", "delete_application"),
            *("view_accesstoken", "delete_accesstoken"),
        ),
        "promotions": ("view_campaign", "add_campaign", "change_campaign"),
        "jobs": ("operate", "view_jobrun"),
    },
}


def create_groups() -> None:
    """Makes the groups, and gives them these permissions and no others.

    With every migration of the default database; who is in a group stays in it.
    """
    for name, apps in GROUPS.items():
        group, _ = Group.objects.get_or_create(name=name)
        wanted = Q()
        for app, codenames in apps.items():
            wanted |= Q(content_type__app_label=app, codename__in=codenames)
        group.permissions.set(Permission.objects.filter(wanted))


def create_groups_after_migrating(using: str, **_: object) -> None:
    """As lay_groups, where the groups are."""
    if using == GLOBAL_ALIAS:
        create_groups()
