"""What a decision on several targets would do, line by line, for the page that asks before it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from django.utils.text import Truncator

from accounts.models import User
from accounts.types import Restriction
from infra.sharding.buckets import shard_of
from moderation.admin.page_context import account_link, restriction_words, state_of
from moderation.errors import OwnerDeletedIt
from moderation.queries.accounts import AccountLine, load_lines, load_posts
from moderation.queries.decisions import Ends, find_deleted_by_owners, load_ends
from moderation.types import ADDED_RESTRICTIONS, DecisionKind, JointPlan
from posts.ids import PostId
from posts.queries.moderated import ModeratedPost

MOST_OF_TEXT = 160
STAFF = "It belongs to staff: only a superuser can decide on it"
POST_AFTER = {
    DecisionKind.HIDE: "hidden",
    DecisionKind.SHOW: "shown",
    DecisionKind.DELETE: "deleted for good",
}


class PreviewLine(NamedTuple):
    """A target. `after`: empty if nothing would change. `problem`: why it would not be done now."""

    name: str
    text: str
    now: str
    after: str
    problem: str = ""


def preview_accounts(plan: JointPlan, is_superuser: bool) -> list[PreviewLine]:
    """The accounts in their order. Cost: two queries, and two a shard; two more to restore."""
    users, ends = User.objects.in_bulk([*plan.accounts]), load_ends([*plan.accounts])
    lines = load_lines(plan.accounts)
    is_restored = plan.account_kind is DecisionKind.RESTORE
    kept = find_deleted_by_owners(plan.accounts) if is_restored else set()
    shown = {
        account_id: _account_line(
            plan, account_id, users.get(account_id), ends, lines, is_superuser
        )
        for account_id in plan.accounts
    }
    return [_kept(line) if account_id in kept else line for account_id, line in shown.items()]


def _kept(line: PreviewLine) -> PreviewLine:
    """Of an account that its owner deleted."""
    return line._replace(after="", problem=line.problem or OwnerDeletedIt.text)


def _account_line(
    plan: JointPlan,
    account_id: int,
    user: User | None,
    ends: Mapping[int, Ends],
    lines: Mapping[int, AccountLine],
    is_superuser: bool,
) -> PreviewLine:
    if user is None:
        return PreviewLine(account_link(account_id, None), "", "", "", "It does not exist")
    now, own_ends = Restriction(user.restrictions), ends.get(account_id, {})
    words = restriction_words(now, own_ends)
    after = _account_after(plan, now, own_ends)
    is_refused = user.is_staff and not is_superuser and plan.account_kind
    return PreviewLine(
        account_link(account_id, user.username),
        _display_name(lines.get(account_id)),
        words,
        "" if after == words else after,
        STAFF if is_refused else "",
    )


def _display_name(line: AccountLine | None) -> str:
    if line is None:
        return "Its shard does not answer. What is decided is in force there when it does."
    return line.profile.display_name if line.profile else ""


def _account_after(plan: JointPlan, now: Restriction, ends: Ends) -> str:
    kind = plan.account_kind
    if kind is None:
        return restriction_words(now, ends)
    if kind is DecisionKind.WARN:
        return f"warned; {restriction_words(now, ends)}"
    if kind is DecisionKind.RESTORE:
        return Restriction.NONE.words
    added = ADDED_RESTRICTIONS[kind]
    left = {word: end for word, end in ends.items() if word is not added}
    return restriction_words(now | added, left | ({added: plan.ends_at} if plan.ends_at else {}))


def preview_posts(plan: JointPlan) -> list[PreviewLine]:
    """The posts in their order. Cost: one query an author, on all shards at once."""
    posts, problems = load_posts(plan.posts)
    return [
        _post_line(plan, post_id, posts.get(post_id), problems.get(shard_of(post_id.author_id), ""))
        for post_id in plan.posts
    ]


def _post_line(
    plan: JointPlan, post_id: PostId, post: ModeratedPost | None, problem: str
) -> PreviewLine:
    if problem:
        return PreviewLine(f"Post {post_id.public}", "", "", "", problem)
    now, after = state_of(post), POST_AFTER[plan.post_kind] if plan.post_kind else ""
    text = post.versions[0].text if post and post.deleted_at is None else ""
    is_same = post is None or post.deleted_at is not None or now.startswith(after)
    short = Truncator(text).chars(MOST_OF_TEXT)
    return PreviewLine(f"Post {post_id.public}", short, now, "" if is_same else after)


def preview_reports(plan: JointPlan, states: Iterable[tuple[int, str]]) -> Iterator[PreviewLine]:
    """The reports with their states. No query."""
    for report_id, state in states:
        is_changed = plan.resolves and state == "open"
        yield PreviewLine(f"Report {report_id}", "", state, "resolved" if is_changed else "")
