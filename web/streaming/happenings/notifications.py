"""Messages of an account alone: notifications, conversations with direct posts, filters."""

from collections.abc import Iterator, Mapping, Sequence

from notifications.types import ALL_KINDS, NotificationKind
from posts.conversations.errors import ConversationNotFound
from posts.conversations.queries.conversations import get_conversation_json
from posts.ids import PostId
from web.streaming.channels import DIRECT, HOME, NOTIFIED, NOTIFIED_SCOPE
from web.streaming.directory import Directory
from web.streaming.happenings.types import Audience, Happening, Shown, Target, View, by_account

ANY: Sequence[NotificationKind] = ALL_KINDS


class ConversationChanged(Happening):
    """A direct post was written or edited. `accounts`: its author, and those that it mentions."""

    def __init__(self, thread: PostId, accounts: Sequence[int]) -> None:
        self.thread, self.accounts = thread, accounts

    def find_audience(self, directory: Directory) -> Audience:
        members = (directory.members[i] for i in self.accounts if i in directory.members)
        return by_account(target for member in members for target in member.on(DIRECT))

    def show(self, view: View, targets: Sequence[Target]) -> Iterator[Shown]:
        """One query, and the post."""
        try:
            payload = get_conversation_json(view.account_id, self.thread)
        except ConversationNotFound:
            return
        for target in targets:
            yield Shown(target, "conversation", payload)


class FiltersChanged(Happening):
    """The account edited its filters: its clients read them, and their posts, again."""

    def __init__(self, account_id: int) -> None:
        self.account_id = account_id

    def find_audience(self, directory: Directory) -> Audience:
        member = directory.members.get(self.account_id)
        return by_account(member.on(HOME) if member else ())

    def show(self, view: View, targets: Sequence[Target]) -> Iterator[Shown]:
        return (Shown(target, "filters_changed", None) for target in targets)


class Notified(Happening):
    """The notifications were written before the change was filed, so these accounts may have new
    ones. `accounts`: with the kinds that each may have. `followers_of`: also all followers of this
    author may have one of a new post; 0: none. `all_of`: everyone may have one of these kinds."""

    def __init__(
        self,
        accounts: Mapping[int, Sequence[NotificationKind]],
        followers_of: int = 0,
        all_of: Sequence[NotificationKind] = (),
    ) -> None:
        self.accounts, self._followers_of, self._all_of = accounts, followers_of, all_of

    def find_audience(self, directory: Directory) -> Audience:
        members = [directory.members[i] for i in self.accounts if i in directory.members]
        if self._followers_of:
            members += directory.followers_of(self._followers_of)
        if self._all_of:
            members += directory.members.values()
        targets = (target for member in members for target in member.on(*NOTIFIED))
        return by_account(t for t in targets if NOTIFIED_SCOPE in t[0].viewer.scopes)

    def kinds_for(self, account_id: int) -> Sequence[NotificationKind]:
        kinds = self.accounts.get(account_id, ())
        return kinds or self._all_of or (NotificationKind.STATUS,)

    def show(self, view: View, targets: Sequence[Target]) -> Iterator[Shown]:
        for target in targets:
            for notification in view.notifications:
                yield Shown(target, "notification", notification)
