"""Something of which accounts are notified."""

from collections.abc import Iterator, Mapping, Sequence

from notifications.types import ALL_KINDS, NotificationKind
from web.streaming.channels import NOTIFIED, NOTIFIED_SCOPE
from web.streaming.directory import Directory
from web.streaming.happenings.types import Audience, Happening, Shown, Target, View, by_account

ANY: Sequence[NotificationKind] = ALL_KINDS


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
