"""Those who work here, with a browser before them."""

from django.contrib.auth.models import Group

from accounts.models import User
from moderation.groups import create_groups
from tests.world import make_account


def make_boss(name: str = "boss", password: str = "") -> User:
    """A superuser. A password costs a third of a second."""
    user = User.objects.get(pk=make_account(name))
    user.is_staff = user.is_superuser = True
    if password:
        user.set_password(password)
    user.save()
    return user


def make_member(group: str, name: str) -> User:
    create_groups()
    user = User.objects.get(pk=make_account(name))
    user.is_staff = True
    user.save()
    user.groups.add(Group.objects.get(name=group))
    return user
