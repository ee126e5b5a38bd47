"""The roles of the role matrix, and one scene for each: an owner, and somebody who asks."""

from collections.abc import Callable

from django.contrib.auth.models import Group
from django.test import Client

from accounts.models import User
from accounts.scopes import OF_SERVICES
from infra.clock import now_ms
from moderation.groups import create_groups
from moderation.types import DecisionKind
from pages.sessions import COOKIE, issue_session
from posts.actions.create_post import create_post
from posts.ids import PostId
from posts.scheduled.actions.schedule import schedule_post
from posts.scheduled.types import PostParams
from posts.types import Draft
from relations.actions.block import block
from relations.actions.follow import follow
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from tests.callers import Caller, sign_in, token_of
from tests.people import decide
from tests.world import make_accounts, publish


class Scene:
    """The owner has a post, which a friend quotes, one for later, a list with a friend in it, and a
    strike.

    `asker`: who asks.
    """

    def __init__(self, role: str) -> None:
        self.owner, self.friend, self.asker = make_accounts(3)
        self.post: PostId = publish(self.owner)
        self.quoting = create_post(self.friend, Draft("look", quoted=self.post))
        follow(self.owner, self.friend)
        self.list_id = create_account_list(self.owner, "close").list_id
        add_members(self.owner, self.list_id, [self.friend])
        later, now = PostParams("later", False, "", "public"), now_ms()
        self.scheduled_id = schedule_post(self.owner, later, 2 * now, "", now).scheduled_id
        strike = decide(self.owner, DecisionKind.WARN)
        assert strike is not None
        self.strike_id = strike.pk
        self._clients: dict[str, Client] = {}
        ROLES[role](self)

    def client(self, role: str) -> Client:
        """A client of the API, with the token of this role. It is the same each time: a new one
        makes the middlewares again."""
        if role not in self._clients:
            self._clients[role] = self._new_client(role)
        return self._clients[role]

    def _new_client(self, role: str) -> Client:
        if role == "anonymous":
            return Client()
        if role in SERVICES:
            token = token_of(None, " ".join(OF_SERVICES))
            header = {"Tideline-Account": str(self.owner)} if role == "acting" else {}
            return Client(headers={"Authorization": f"Bearer {token}", **header})
        return Caller(self.owner if role == "owner" else self.asker).client

    def browser(self, role: str) -> Client:
        """A browser, signed in as this role: to the admin and to the pages."""
        browser = Client()
        if role != "anonymous":
            sign_in(browser, User.objects.get(id=self.asker))
            browser.cookies[COOKIE] = issue_session(self.asker).token
        return browser


def _join(group: str) -> Callable[[Scene], None]:
    def join(scene: Scene) -> None:
        create_groups()
        User.objects.filter(id=scene.asker).update(is_staff=True)
        User.objects.get(id=scene.asker).groups.add(Group.objects.get(name=group))

    return join


def _crown(scene: Scene) -> None:
    User.objects.filter(id=scene.asker).update(is_staff=True, is_superuser=True)


def _nothing(scene: Scene) -> None:
    """The role needs no relation."""


# A service by itself, and one that acts for the owner. Both have all scopes of services.
SERVICES = ("service", "acting")
ROLES: dict[str, Callable[[Scene], object]] = {
    "anonymous": _nothing,
    "owner": _nothing,
    "other": _nothing,
    "follower": lambda scene: follow(scene.asker, scene.owner),
    "blocked": lambda scene: block(scene.owner, scene.asker),
    "blocker": lambda scene: block(scene.asker, scene.owner),
    "suspended": lambda scene: decide(scene.asker, DecisionKind.SUSPEND),
    "moderator": _join("moderator"),
    "operator": _join("operator"),
    "admin": _crown,
    **dict.fromkeys(SERVICES, _nothing),
}
