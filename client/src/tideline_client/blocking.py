"""The calls of Tideline's API. Generated from its OpenAPI document: do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import uuid4

from tideline_client import models
from tideline_client.calls import Call, body_of, path_part, query_of
from tideline_client.connections import Connection
from tideline_client.pages import PageReader, Pages


class AccountsCalls:
    """Calls about accounts."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def block(self, account_id: str) -> models.Relationship:
        """Block an account: ends the follows in both directions and forbids new ones."""
        call = Call(
            "POST",
            f"/api/v1/accounts/{path_part(account_id)}/block",
            models.Relationship,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def blocked(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """Accounts I block, newest first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/blocks",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def by_ids(self, ids: Sequence[str]) -> list[models.Account]:
        """Accounts in the order of the ids; unknown ids are left out.

        `ids`: At most 40 account ids.
        """
        call = Call(
            "GET",
            "/api/v1/accounts",
            list[models.Account],
            query=query_of({"id[]": ids}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def delete_avatar(self) -> models.CredentialAccount:
        """My avatar. Without one, clients get the picture that all new accounts have."""
        call = Call(
            "DELETE", "/api/v1/profile/avatar", models.CredentialAccount, is_repeatable=True
        )
        return self._connection.send(call)

    def delete_header(self) -> models.CredentialAccount:
        """My header, as my avatar."""
        call = Call(
            "DELETE", "/api/v1/profile/header", models.CredentialAccount, is_repeatable=True
        )
        return self._connection.send(call)

    def directory(
        self,
        *,
        limit: int | None = None,
        local: bool | None = None,
        offset: int | None = None,
        order: Literal["active", "new"] | None = None,
    ) -> list[models.Account]:
        """Accounts that want to be found. The directory has the first few hundred.

        `limit`: Most results of each type.
        `local`: Accounts of this server: all are.
        `offset`: Leave out so many of the best results.
        `order`: By the last public post (the default), or by the sign-up.
        """
        call = Call(
            "GET",
            "/api/v1/directory",
            list[models.Account],
            query=query_of({"limit": limit, "local": local, "offset": offset, "order": order}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def dismiss_suggestion(self, account_id: str) -> None:
        """Suggest the account to me no more."""
        call = Call(
            "DELETE", f"/api/v1/suggestions/{path_part(account_id)}", type(None), is_repeatable=True
        )
        return self._connection.send(call)

    def endorse(self, account_id: str) -> models.Relationship:
        """Show an account that I follow on my profile, until I unfollow it."""
        call = Call(
            "POST",
            f"/api/v1/accounts/{path_part(account_id)}/endorse",
            models.Relationship,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def endorsed(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """Accounts that I show on my profile, newest follow first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/endorsements",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def endorsements(
        self,
        account_id: str,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """Accounts that an account shows on its profile. Only itself sees its quiet follows there.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            f"/api/v1/accounts/{path_part(account_id)}/endorsements",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def familiar_followers(self, ids: Sequence[str]) -> list[models.FamiliarFollowers]:
        """By account: the accounts I follow that also follow it. In the order asked, each once.

        `ids`: At most 40 account ids.
        """
        call = Call(
            "GET",
            "/api/v1/accounts/familiar_followers",
            list[models.FamiliarFollowers],
            query=query_of({"id[]": ids}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def featured_tags(self, account_id: str) -> list[models.FeaturedTag]:
        """The tags that an account shows on its profile."""
        call = Call(
            "GET",
            f"/api/v1/accounts/{path_part(account_id)}/featured_tags",
            list[models.FeaturedTag],
            is_repeatable=True,
        )
        return self._connection.send(call)

    def follow(
        self,
        account_id: str,
        *,
        quiet: bool | None = None,
        special: bool | None = None,
        reblogs: bool | None = None,
        notify: bool | None = None,
        languages: Sequence[str] | None = None,
    ) -> models.Relationship:
        """Follow an account, or change the options of a follow. Options that are not sent stay.

        A locked account must approve the follow first: `requested` is true until then.

        `quiet`: Only I can see this follow.
        `special`: A mark that only I can see.
        `reblogs`: Show the reposts of this account.
        `languages`: Show only posts of these languages. Empty: of all.
        """
        call = Call(
            "POST",
            f"/api/v1/accounts/{path_part(account_id)}/follow",
            models.Relationship,
            body=body_of(
                {
                    "quiet": quiet,
                    "special": special,
                    "reblogs": reblogs,
                    "notify": notify,
                    "languages": languages,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def followed_by(self, id: str | int | Sequence[str | int]) -> list[str]:
        """The ids of those of up to 100 accounts that follow me, in the order asked, each once."""
        call = Call(
            "POST",
            "/api/v1/accounts/followed_by",
            list[str],
            body=body_of({"id": id}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def followers(
        self,
        account_id: str,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """Followers of an account, newest first. Only the account itself sees its quiet followers.

        The list is empty for others if the account hides its collections.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            f"/api/v1/accounts/{path_part(account_id)}/followers",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def following(
        self,
        account_id: str,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """Followees of an account, newest first. Only the account itself sees its quiet follows.

        The list is empty for others if the account hides its collections.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            f"/api/v1/accounts/{path_part(account_id)}/following",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def get(self, account_id: str) -> models.Account:
        """One account. The owner's own counts include quiet follows."""
        call = Call(
            "GET", f"/api/v1/accounts/{path_part(account_id)}", models.Account, is_repeatable=True
        )
        return self._connection.send(call)

    def in_lists(self, account_id: str) -> list[models.List]:
        """My lists that have this account as a member."""
        call = Call(
            "GET",
            f"/api/v1/accounts/{path_part(account_id)}/lists",
            list[models.List],
            is_repeatable=True,
        )
        return self._connection.send(call)

    def lookup(self, acct: str) -> models.Account:
        """One account by its name.

        `acct`: A username.
        """
        call = Call(
            "GET",
            "/api/v1/accounts/lookup",
            models.Account,
            query=query_of({"acct": acct}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def me(self) -> models.CredentialAccount:
        """The account of the token."""
        call = Call(
            "GET",
            "/api/v1/accounts/verify_credentials",
            models.CredentialAccount,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def mute(
        self,
        account_id: str,
        *,
        duration: int | str | None = None,
        notifications: bool | None = None,
    ) -> models.Relationship:
        """Mute an account, for a while or until it is unmuted. A duration of 0 has no end.

        The header `X-Undo` has a text for `…/undo`, for a minute.

        `duration`: Seconds; 0: without end.
        """
        call = Call(
            "POST",
            f"/api/v1/accounts/{path_part(account_id)}/mute",
            models.Relationship,
            body=body_of({"duration": duration, "notifications": notifications}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def muted(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.MutedAccount]:
        """Accounts I mute, newest first, and when each mute ends.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/mutes",
            list[models.MutedAccount],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def note(self, account_id: str, *, comment: str | None = None) -> models.Relationship:
        """Replace my private note about an account. An empty text deletes it.

        `comment`: Empty: deletes the note.
        """
        call = Call(
            "POST",
            f"/api/v1/accounts/{path_part(account_id)}/note",
            models.Relationship,
            body=body_of({"comment": comment}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def preferences(self) -> models.Preferences:
        """What my new posts get where I say nothing, and what home shows. `source` of
        `update_credentials` changes them.
        """
        call = Call("GET", "/api/v1/preferences", models.Preferences, is_repeatable=True)
        return self._connection.send(call)

    def quiet_followers(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """Accounts that follow me quietly, newest first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/accounts/quiet_followers",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def quiet_following(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """Accounts I follow quietly, newest first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/accounts/quiet_following",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def relation_counts(self) -> models.RelationCounts:
        """How many accounts are on each of my lists: followers, follows, quiet ones, and blocks.

        All counts are of one moment.
        """
        call = Call(
            "GET", "/api/v1/accounts/relation_counts", models.RelationCounts, is_repeatable=True
        )
        return self._connection.send(call)

    def relationships(self, ids: Sequence[str]) -> list[models.Relationship]:
        """My relationships with up to 100 accounts, in the order asked, each once.

        Ids without an account are left out.

        `ids`: At most 100 account ids.
        """
        call = Call(
            "GET",
            "/api/v1/accounts/relationships",
            list[models.Relationship],
            query=query_of({"id[]": ids}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def remove_follower(self, account_id: str) -> models.Relationship:
        """Remove an account from my followers."""
        call = Call(
            "POST",
            f"/api/v1/accounts/{path_part(account_id)}/remove_from_followers",
            models.Relationship,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def search(
        self,
        q: str,
        *,
        following: bool | None = None,
        limit: int | None = None,
        offset: int | None = None,
        resolve: bool | None = None,
    ) -> list[models.Account]:
        """Accounts by their names, the best first. Mutuals and accounts I follow come first.

        `following`: Only accounts that I follow.
        `limit`: Most results of each type.
        `offset`: Leave out so many of the best results.
        `q`: Words, a name, or the URL of an account or post of this server.
        `resolve`: Ask other servers: there are none.
        """
        call = Call(
            "GET",
            "/api/v1/accounts/search",
            list[models.Account],
            query=query_of(
                {
                    "following": following,
                    "limit": limit,
                    "offset": offset,
                    "q": q,
                    "resolve": resolve,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def special_following(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """Accounts I marked as special, newest follow first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/accounts/special_following",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def statuses(
        self,
        account_id: str,
        *,
        exclude_direct: bool | None = None,
        exclude_reblogs: bool | None = None,
        exclude_replies: bool | None = None,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        only_media: bool | None = None,
        pinned: bool | None = None,
        since_id: str | None = None,
        tagged: str | None = None,
    ) -> Pages[models.Status]:
        """One account's posts, replies and reposts, newest first.

        `exclude_direct`: Leave my own direct posts out.
        `exclude_reblogs`: Leave every repost out.
        `exclude_replies`: Leave replies out, but not those to the account itself.
        `limit`: Most items on the page.
        `only_media`: Only posts and replies with images.
        `pinned`: Only the pinned posts, the latest pin first.
        `tagged`: Only public posts with this tag.
        """
        call = Call(
            "GET",
            f"/api/v1/accounts/{path_part(account_id)}/statuses",
            list[models.Status],
            query=query_of(
                {
                    "exclude_direct": exclude_direct,
                    "exclude_reblogs": exclude_reblogs,
                    "exclude_replies": exclude_replies,
                    "limit": limit,
                    "max_id": max_id,
                    "min_id": min_id,
                    "only_media": only_media,
                    "pinned": pinned,
                    "since_id": since_id,
                    "tagged": tagged,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def suggestions(self, *, limit: int | None = None) -> list[models.Suggestion]:
        """Accounts that many accounts I follow do follow, and I do not.

        `limit`: Most suggestions.
        """
        call = Call(
            "GET",
            "/api/v2/suggestions",
            list[models.Suggestion],
            query=query_of({"limit": limit}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def unblock(self, account_id: str) -> models.Relationship:
        """Unblock an account. Ended follows do not come back."""
        call = Call(
            "POST",
            f"/api/v1/accounts/{path_part(account_id)}/unblock",
            models.Relationship,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def unendorse(self, account_id: str) -> models.Relationship:
        """Stop showing an account on my profile."""
        call = Call(
            "POST",
            f"/api/v1/accounts/{path_part(account_id)}/unendorse",
            models.Relationship,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def unfollow(self, account_id: str) -> models.Relationship:
        """Unfollow an account, or take a follow request back.

        The header `X-Undo` has a text for `…/undo`, for a minute.
        """
        call = Call(
            "POST",
            f"/api/v1/accounts/{path_part(account_id)}/unfollow",
            models.Relationship,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def unmute(self, account_id: str) -> models.Relationship:
        """Unmute an account."""
        call = Call(
            "POST",
            f"/api/v1/accounts/{path_part(account_id)}/unmute",
            models.Relationship,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def update_me(
        self,
        *,
        display_name: str | None = None,
        note: str | None = None,
        locked: bool | None = None,
        bot: bool | None = None,
        discoverable: bool | None = None,
        indexable: bool | None = None,
        hide_collections: bool | None = None,
        fields_attributes: Sequence[models.NewField] | None = None,
        source: models.SourceEdit | None = None,
    ) -> models.CredentialAccount:
        """Change parts of my profile. Fields that are not sent stay as they are.

        `avatar` and `header` may be images in a form, or `data:` addresses with base64. `DELETE
        /api/v1/profile/avatar` removes one.

        `locked`: Follows need my approval.
        `discoverable`: Suggestions and the directory may name me.
        `indexable`: Searches may find my posts.
        `hide_collections`: Others see neither my followers nor my followees.
        `fields_attributes`: All fields, in order.
        """
        call = Call(
            "PATCH",
            "/api/v1/accounts/update_credentials",
            models.CredentialAccount,
            body=body_of(
                {
                    "display_name": display_name,
                    "note": note,
                    "locked": locked,
                    "bot": bot,
                    "discoverable": discoverable,
                    "indexable": indexable,
                    "hide_collections": hide_collections,
                    "fields_attributes": fields_attributes,
                    "source": source,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)


class ConversationsCalls:
    """Calls about conversations."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def delete(self, conversation_id: str) -> None:
        """Take a conversation off your list until its next direct post. Its posts stay."""
        call = Call("DELETE", f"/api/v1/conversations/{path_part(conversation_id)}", type(None))
        return self._connection.send(call)

    def get(self, conversation_id: str) -> models.Conversation:
        """One of my conversations. Mastodon has only the list."""
        call = Call(
            "GET",
            f"/api/v1/conversations/{path_part(conversation_id)}",
            models.Conversation,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def mine(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Conversation]:
        """My conversations: threads with direct posts, the latest post first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/conversations",
            list[models.Conversation],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def read(self, conversation_id: str, *, up_to: str | None = None) -> models.Conversation:
        """With `up_to` it stays unread if it has a later post, which you may not have seen.

        `up_to`: The id of the latest post that was seen.
        """
        call = Call(
            "POST",
            f"/api/v1/conversations/{path_part(conversation_id)}/read",
            models.Conversation,
            body=body_of({"up_to": up_to}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def unread(self, conversation_id: str) -> models.Conversation:
        """Mark a conversation as unread, also if its latest post is your own."""
        call = Call(
            "POST",
            f"/api/v1/conversations/{path_part(conversation_id)}/unread",
            models.Conversation,
        )
        return self._connection.send(call)


class FiltersCalls:
    """Calls about filters."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        title: str,
        context: Sequence[Literal["home", "notifications", "public", "thread", "account"]],
        *,
        filter_action: Literal["warn", "hide", "blur"] | None = None,
        expires_in: int | str | None = None,
        keywords_attributes: Sequence[models.NewKeyword] | None = None,
    ) -> models.Filter:
        """Creates a filter. It takes effect at my next read.

        `expires_in`: Seconds from now; null: the filter has no end.
        """
        call = Call(
            "POST",
            "/api/v2/filters",
            models.Filter,
            body=body_of(
                {
                    "title": title,
                    "context": context,
                    "filter_action": filter_action,
                    "expires_in": expires_in,
                    "keywords_attributes": keywords_attributes,
                }
            ),
        )
        return self._connection.send(call)

    def delete(self, filter_id: str) -> None:
        """One of my filters."""
        call = Call("DELETE", f"/api/v2/filters/{path_part(filter_id)}", type(None))
        return self._connection.send(call)

    def get(self, filter_id: str) -> models.Filter:
        """One of my filters."""
        call = Call(
            "GET", f"/api/v2/filters/{path_part(filter_id)}", models.Filter, is_repeatable=True
        )
        return self._connection.send(call)

    def mine(self) -> list[models.Filter]:
        """My filters, the oldest first."""
        call = Call("GET", "/api/v2/filters", list[models.Filter], is_repeatable=True)
        return self._connection.send(call)

    def update(
        self,
        filter_id: str,
        *,
        title: str | None = None,
        context: Sequence[Literal["home", "notifications", "public", "thread", "account"]]
        | None = None,
        filter_action: Literal["warn", "hide", "blur"] | None = None,
        expires_in: int | str | None = None,
        keywords_attributes: Sequence[models.NewKeyword] | None = None,
    ) -> models.Filter:
        """Changes what is sent. Keywords with an id are changed or, with `_destroy`, removed.

        `expires_in`: Seconds from now; null: the filter has no end.
        """
        call = Call(
            "PUT",
            f"/api/v2/filters/{path_part(filter_id)}",
            models.Filter,
            body=body_of(
                {
                    "title": title,
                    "context": context,
                    "filter_action": filter_action,
                    "expires_in": expires_in,
                    "keywords_attributes": keywords_attributes,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)


class FollowRequestsCalls:
    """Calls about follow requests."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def authorize(self, account_id: str) -> models.Relationship:
        """Approve a follow request."""
        call = Call(
            "POST",
            f"/api/v1/follow_requests/{path_part(account_id)}/authorize",
            models.Relationship,
        )
        return self._connection.send(call)

    def pending(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """Accounts that asked to follow me and await my approval, newest first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/follow_requests",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def reject(self, account_id: str) -> models.Relationship:
        """Reject a follow request. The account may ask again."""
        call = Call(
            "POST", f"/api/v1/follow_requests/{path_part(account_id)}/reject", models.Relationship
        )
        return self._connection.send(call)


class ListsCalls:
    """Calls about lists."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def accounts(
        self,
        list_id: str,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """With `limit=0` all members at once, as in Mastodon.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            f"/api/v1/lists/{path_part(list_id)}/accounts",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def add_accounts(self, list_id: str, account_ids: Sequence[str]) -> None:
        """Adds accounts I follow, all or none. Existing members stay."""
        call = Call(
            "POST",
            f"/api/v1/lists/{path_part(list_id)}/accounts",
            type(None),
            body=body_of({"account_ids": account_ids}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def create(
        self,
        title: str,
        *,
        replies_policy: Literal["list", "followed", "none"] | None = None,
        exclusive: bool | None = None,
    ) -> models.List:
        """Creates an empty list.

        `replies_policy`: Which replies of members are shown, besides replies to me and to
          themselves: replies to accounts I follow, to members, or none.
        `exclusive`: What members post is not at home.
        """
        call = Call(
            "POST",
            "/api/v1/lists",
            models.List,
            body=body_of(
                {"title": title, "replies_policy": replies_policy, "exclusive": exclusive}
            ),
        )
        return self._connection.send(call)

    def delete(self, list_id: str) -> None:
        """One of my lists."""
        call = Call("DELETE", f"/api/v1/lists/{path_part(list_id)}", type(None))
        return self._connection.send(call)

    def get(self, list_id: str) -> models.List:
        """One of my lists."""
        call = Call("GET", f"/api/v1/lists/{path_part(list_id)}", models.List, is_repeatable=True)
        return self._connection.send(call)

    def mine(self, *, with_members: bool | None = None) -> list[models.List]:
        """With `with_members` each says how many members it has, and names the newest.

        `with_members`: Say how many members each list has, and the newest.
        """
        call = Call(
            "GET",
            "/api/v1/lists",
            list[models.List],
            query=query_of({"with_members": with_members}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def remove_accounts(self, list_id: str, account_ids: Sequence[str]) -> None:
        """Removes accounts. Accounts that are no members are ignored.

        `account_ids`: At most 500 account ids.
        """
        call = Call(
            "DELETE",
            f"/api/v1/lists/{path_part(list_id)}/accounts",
            type(None),
            query=query_of({"account_ids[]": account_ids}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def update(
        self,
        list_id: str,
        *,
        title: str | None = None,
        replies_policy: Literal["list", "followed", "none"] | None = None,
        exclusive: bool | None = None,
    ) -> models.List:
        """Changes the fields that are sent, and keeps the others.

        `replies_policy`: Which replies of members are shown, besides replies to me and to
          themselves: replies to accounts I follow, to members, or none.
        `exclusive`: What members post is not at home.
        """
        call = Call(
            "PUT",
            f"/api/v1/lists/{path_part(list_id)}",
            models.List,
            body=body_of(
                {"title": title, "replies_policy": replies_policy, "exclusive": exclusive}
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)


class MarkersCalls:
    """Calls about markers."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, *, timeline: Sequence[str] | None = None) -> models.Markers:
        """How far I have read my home timeline and my notifications.

        `timeline`: Which markers to return: home, notifications. Other names are ignored.
        """
        call = Call(
            "GET",
            "/api/v1/markers",
            models.Markers,
            query=query_of({"timeline[]": timeline}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def move(
        self,
        *,
        home: models.NewHomeMarker | None = None,
        notifications: models.NewNotificationMarker | None = None,
    ) -> models.Markers:
        """Moves the markers, all or none. Returns the markers that were sent."""
        call = Call(
            "POST",
            "/api/v1/markers",
            models.Markers,
            body=body_of({"home": home, "notifications": notifications}),
            is_repeatable=True,
        )
        return self._connection.send(call)


class MediaCalls:
    """Calls about media."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def delete(self, media_id: str) -> None:
        """One of your images that no post has yet: read, describe or delete it."""
        call = Call("DELETE", f"/api/v1/media/{path_part(media_id)}", type(None))
        return self._connection.send(call)

    def get(self, media_id: str) -> models.MediaAttachment:
        """One of your images that no post has yet: read, describe or delete it."""
        call = Call(
            "GET",
            f"/api/v1/media/{path_part(media_id)}",
            models.MediaAttachment,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def update(
        self, media_id: str, *, description: str | None = None, focus: str | None = None
    ) -> models.MediaAttachment:
        """One of your images that no post has yet: read, describe or delete it.

        `description`: For people who cannot see it.
        `focus`: The point that previews keep: x,y from -1 to 1.
        """
        call = Call(
            "PUT",
            f"/api/v1/media/{path_part(media_id)}",
            models.MediaAttachment,
            body=body_of({"description": description, "focus": focus}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def upload(
        self, file: bytes, *, description: str | None = None, focus: str | None = None
    ) -> models.MediaAttachment:
        """Upload an image for a post. It is ready when this answers, and removed if no post uses
        it.

        `file`: JPEG, PNG, GIF (its first frame) or WebP.
        `description`: For people who cannot see it.
        `focus`: The point that previews keep: x,y from -1 to 1.
        """
        call = Call(
            "POST",
            "/api/v2/media",
            models.MediaAttachment,
            body=body_of({"description": description, "focus": focus}),
            files=body_of({"file": file}),
        )
        return self._connection.send(call)


class NotificationsCalls:
    """Calls about notifications."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def accept_requests(self, id: Sequence[str]) -> None:
        """Show the notifications of these accounts from now on, those of the past too."""
        call = Call(
            "POST",
            "/api/v1/notifications/requests/accept",
            type(None),
            body=body_of({"id": id}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def accounts_of_group(self, group_key: str) -> list[models.Account]:
        """The accounts of a group of my notifications, the latest first."""
        call = Call(
            "GET",
            f"/api/v2/notifications/{path_part(group_key)}/accounts",
            list[models.Account],
            is_repeatable=True,
        )
        return self._connection.send(call)

    def clear(self) -> None:
        """Remove all notifications from my list."""
        call = Call("POST", "/api/v1/notifications/clear", type(None), is_repeatable=True)
        return self._connection.send(call)

    def dismiss(self, notification_id: str) -> None:
        """Remove one notification from my list."""
        call = Call(
            "POST",
            f"/api/v1/notifications/{path_part(notification_id)}/dismiss",
            type(None),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def dismiss_group(self, group_key: str) -> None:
        """Remove a group from my list."""
        call = Call(
            "POST",
            f"/api/v2/notifications/{path_part(group_key)}/dismiss",
            type(None),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def dismiss_requests(self, id: Sequence[str]) -> None:
        """Remove the filtered notifications of these accounts."""
        call = Call(
            "POST",
            "/api/v1/notifications/requests/dismiss",
            type(None),
            body=body_of({"id": id}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def get(
        self, notification_id: str, *, supported_types: Sequence[str] | None = None
    ) -> models.Notification:
        """One of my notifications.

        `supported_types`: The types that the client knows, as since Mastodon 4.6. All types
          here but reaction are older, and nothing has a `fallback`.
        """
        call = Call(
            "GET",
            f"/api/v1/notifications/{path_part(notification_id)}",
            models.Notification,
            query=query_of({"supported_types[]": supported_types}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def group(
        self, group_key: str, *, supported_types: Sequence[str] | None = None
    ) -> models.GroupedNotificationsResults:
        """One group of my notifications.

        `supported_types`: The types that the client knows, as since Mastodon 4.6. All types
          here but reaction are older, and nothing has a `fallback`.
        """
        call = Call(
            "GET",
            f"/api/v2/notifications/{path_part(group_key)}",
            models.GroupedNotificationsResults,
            query=query_of({"supported_types[]": supported_types}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def grouped(
        self,
        *,
        account_id: str | None = None,
        exclude_types: Sequence[str] | None = None,
        expand_accounts: Literal["full", "partial_avatars"] | None = None,
        grouped_types: Sequence[str] | None = None,
        include_filtered: bool | None = None,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
        supported_types: Sequence[str] | None = None,
        types: Sequence[str] | None = None,
    ) -> models.GroupedNotificationsResults:
        """My notifications in groups, the group with the newest notification first.

        `account_id`: Only notifications of this account.
        `exclude_types`: Not these. Other names match nothing.
        `expand_accounts`: partial_avatars: of each group only the newest account is whole.
        `grouped_types`: The types to group: follow, favourite, reblog, reaction.
        `include_filtered`: With those that my policy filters.
        `limit`: Most items on the page.
        `supported_types`: The types that the client knows, as since Mastodon 4.6. All types
          here but reaction are older, and nothing has a `fallback`.
        `types`: Only these: mention, follow, follow_request, favourite, reblog, status, poll,
          quote, quoted_update, moderation_warning, reaction. Other names match nothing.
        """
        call = Call(
            "GET",
            "/api/v2/notifications",
            models.GroupedNotificationsResults,
            query=query_of(
                {
                    "account_id": account_id,
                    "exclude_types[]": exclude_types,
                    "expand_accounts": expand_accounts,
                    "grouped_types[]": grouped_types,
                    "include_filtered": include_filtered,
                    "limit": limit,
                    "max_id": max_id,
                    "min_id": min_id,
                    "since_id": since_id,
                    "supported_types[]": supported_types,
                    "types[]": types,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def mine(
        self,
        *,
        account_id: str | None = None,
        exclude_types: Sequence[str] | None = None,
        include_filtered: bool | None = None,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
        supported_types: Sequence[str] | None = None,
        types: Sequence[str] | None = None,
    ) -> Pages[models.Notification]:
        """My notifications, the newest first.

        `account_id`: Only notifications of this account.
        `exclude_types`: Not these. Other names match nothing.
        `include_filtered`: With those that my policy filters.
        `limit`: Most items on the page.
        `supported_types`: The types that the client knows, as since Mastodon 4.6. All types
          here but reaction are older, and nothing has a `fallback`.
        `types`: Only these: mention, follow, follow_request, favourite, reblog, status, poll,
          quote, quoted_update, moderation_warning, reaction. Other names match nothing.
        """
        call = Call(
            "GET",
            "/api/v1/notifications",
            list[models.Notification],
            query=query_of(
                {
                    "account_id": account_id,
                    "exclude_types[]": exclude_types,
                    "include_filtered": include_filtered,
                    "limit": limit,
                    "max_id": max_id,
                    "min_id": min_id,
                    "since_id": since_id,
                    "supported_types[]": supported_types,
                    "types[]": types,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def policy(self) -> models.NotificationPolicy:
        """My policy for notifications."""
        call = Call(
            "GET", "/api/v2/notifications/policy", models.NotificationPolicy, is_repeatable=True
        )
        return self._connection.send(call)

    def request(self, account_id: str) -> models.NotificationRequest:
        """The filtered notifications of one account."""
        call = Call(
            "GET",
            f"/api/v1/notifications/requests/{path_part(account_id)}",
            models.NotificationRequest,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def requests(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.NotificationRequest]:
        """The accounts whose notifications my policy filters.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/notifications/requests",
            list[models.NotificationRequest],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def unread_count(
        self,
        *,
        account_id: str | None = None,
        conversations: bool | None = None,
        exclude_types: Sequence[str] | None = None,
        grouped_types: Sequence[str] | None = None,
        include_filtered: bool | None = None,
        limit: int | None = None,
        types: Sequence[str] | None = None,
    ) -> models.UnreadGroups:
        """One round trip has both what is unread and where the marker is.

        `account_id`: Only notifications of this account.
        `conversations`: Count unread conversations too.
        `exclude_types`: Not these. Other names match nothing.
        `grouped_types`: The types to group: follow, favourite, reblog, reaction.
        `include_filtered`: With those that my policy filters.
        `limit`: Count no further; at most 1,000.
        `types`: Only these: mention, follow, follow_request, favourite, reblog, status, poll,
          quote, quoted_update, moderation_warning, reaction. Other names match nothing.
        """
        call = Call(
            "GET",
            "/api/v2/notifications/unread_count",
            models.UnreadGroups,
            query=query_of(
                {
                    "account_id": account_id,
                    "conversations": conversations,
                    "exclude_types[]": exclude_types,
                    "grouped_types[]": grouped_types,
                    "include_filtered": include_filtered,
                    "limit": limit,
                    "types[]": types,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def update_policy(
        self,
        *,
        for_not_following: Literal["accept", "filter", "drop"] | None = None,
        for_not_followers: Literal["accept", "filter", "drop"] | None = None,
        for_new_accounts: Literal["accept", "filter", "drop"] | None = None,
        for_private_mentions: Literal["accept", "filter", "drop"] | None = None,
        for_limited_accounts: Literal["accept", "filter", "drop"] | None = None,
    ) -> models.NotificationPolicy:
        """Changes the measures that are sent. They hold for notifications of the past, too."""
        call = Call(
            "PATCH",
            "/api/v2/notifications/policy",
            models.NotificationPolicy,
            body=body_of(
                {
                    "for_not_following": for_not_following,
                    "for_not_followers": for_not_followers,
                    "for_new_accounts": for_new_accounts,
                    "for_private_mentions": for_private_mentions,
                    "for_limited_accounts": for_limited_accounts,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)


class PollsCalls:
    """Calls about polls."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, poll_id: str) -> models.Poll:
        """One poll."""
        call = Call("GET", f"/api/v1/polls/{path_part(poll_id)}", models.Poll, is_repeatable=True)
        return self._connection.send(call)

    def vote(self, poll_id: str, choices: Sequence[int]) -> models.Poll:
        """Vote on a poll, once.

        `choices`: Places of options, from 0.
        """
        call = Call(
            "POST",
            f"/api/v1/polls/{path_part(poll_id)}/votes",
            models.Poll,
            body=body_of({"choices": choices}),
        )
        return self._connection.send(call)


class PromotionsCalls:
    """Calls about promotions."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def hide(self, campaign_id: str) -> None:
        """Hide a promotion from my home timeline, for good."""
        call = Call(
            "POST",
            f"/api/v1/promotions/{path_part(campaign_id)}/hide",
            type(None),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def why(self, campaign_id: str) -> models.Promotion:
        """Why I see a promotion: who placed and pays for it, for which people, until when."""
        call = Call(
            "GET",
            f"/api/v1/promotions/{path_part(campaign_id)}",
            models.Promotion,
            is_repeatable=True,
        )
        return self._connection.send(call)


class ReportsCalls:
    """Calls about reports."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        account_id: str,
        *,
        status_ids: Sequence[str] | None = None,
        comment: str | None = None,
        category: Literal["spam", "legal", "violation", "other"] | None = None,
        forward: Any | None = None,
        rule_ids: Sequence[str] | None = None,
    ) -> models.Report:
        """Report an account, and some of its posts, to the moderators.

        `status_ids`: Posts of that account.
        `forward`: Ignored: there are no other servers.
        `rule_ids`: Rules of the site. They make the report a violation.
        """
        call = Call(
            "POST",
            "/api/v1/reports",
            models.Report,
            body=body_of(
                {
                    "account_id": account_id,
                    "status_ids": status_ids,
                    "comment": comment,
                    "category": category,
                    "forward": forward,
                    "rule_ids": rule_ids,
                }
            ),
        )
        return self._connection.send(call)


class ScheduledStatusesCalls:
    """Calls about scheduled statuses."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        scheduled_at: str,
        status: str,
        *,
        idempotency_key: str | None = None,
        sensitive: bool | None = None,
        spoiler_text: str | None = None,
        language: str | None = None,
        visibility: Literal["public", "unlisted", "private", "direct"] | None = None,
        quote_approval_policy: Literal["public", "followers", "nobody"] | None = None,
        reply_approval_policy: Literal["public", "followers", "following", "mentioned", "nobody"]
        | None = None,
        quoted_status_id: str | None = None,
        poll: models.NewPoll | None = None,
        in_reply_to_id: str | None = None,
        media_ids: Sequence[str] | None = None,
        type: str | None = None,
        custom: Mapping[str, Any] | str | None = None,
    ) -> models.ScheduledStatus:
        """Publish a post or a reply. A repeated Idempotency-Key returns the first post.

        If that post was deleted in the meantime, the answer is 410.

        With `scheduled_at` it is published then, and the answer is a ScheduledStatus.

        `idempotency_key`: A repeated key returns the post of the first request.
        `scheduled_at`: ISO 8601, of UTC if it has no zone. At least 5 minutes from now.
        `status`: The text. A web address counts as 23 characters. With images or a quote it may
          be empty.
        `spoiler_text`: The limit is for the text and the spoiler together.
        `quote_approval_policy`: Who may quote it. Private posts can be quoted by their author
          only.
        `reply_approval_policy`: Who may reply to it, and in its thread. To a direct message all
          its readers may.
        `quoted_status_id`: The id of the post to quote.
        `in_reply_to_id`: The id of the post to answer.
        `media_ids`: Your images.
        `type`: `status`, or one that a service declared.
        `custom`: Given back as it is.
        """
        headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
        call = Call(
            "POST",
            "/api/v1/statuses",
            models.ScheduledStatus,
            body=body_of(
                {
                    "scheduled_at": scheduled_at,
                    "status": status,
                    "sensitive": sensitive,
                    "spoiler_text": spoiler_text,
                    "language": language,
                    "visibility": visibility,
                    "quote_approval_policy": quote_approval_policy,
                    "reply_approval_policy": reply_approval_policy,
                    "quoted_status_id": quoted_status_id,
                    "poll": poll,
                    "in_reply_to_id": in_reply_to_id,
                    "media_ids": media_ids,
                    "type": type,
                    "custom": custom,
                }
            ),
            headers=headers,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def delete(self, scheduled_id: str) -> None:
        """Cancel it. Its images can be used again for a day."""
        call = Call("DELETE", f"/api/v1/scheduled_statuses/{path_part(scheduled_id)}", type(None))
        return self._connection.send(call)

    def get(self, scheduled_id: str) -> models.ScheduledStatus:
        """One of my scheduled posts. When it is published it is not here any more."""
        call = Call(
            "GET",
            f"/api/v1/scheduled_statuses/{path_part(scheduled_id)}",
            models.ScheduledStatus,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def mine(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.ScheduledStatus]:
        """My posts that are to be published later, the latest request first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/scheduled_statuses",
            list[models.ScheduledStatus],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def move(self, scheduled_id: str, scheduled_at: str) -> models.ScheduledStatus:
        """Change when it is published. One that could not be published is tried again then.

        `scheduled_at`: ISO 8601, of UTC if it has no zone. At least 5 minutes from now.
        """
        call = Call(
            "PUT",
            f"/api/v1/scheduled_statuses/{path_part(scheduled_id)}",
            models.ScheduledStatus,
            body=body_of({"scheduled_at": scheduled_at}),
            is_repeatable=True,
        )
        return self._connection.send(call)


class SearchCalls:
    """Calls about search."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(
        self,
        q: str,
        *,
        account_id: str | None = None,
        exclude_unreviewed: bool | None = None,
        following: bool | None = None,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        offset: int | None = None,
        resolve: bool | None = None,
        type: Literal["accounts", "statuses", "hashtags"] | None = None,
    ) -> models.Search:
        """Accounts, posts and tags by words. Posts are public ones, newest first.

        A post must have all words. `"two words"`: next to each other. `-word`, `-"two words"`
        and `-#tag`: the post must not have these. `#tag`: exactly this tag. `from:name` and
        `from:me`: posts of this account only, also without words; `-from:name`: none of it.
        `has:media`, `has:poll`, `is:reply`, `is:sensitive` and `language:en`, also with a
        minus: only such posts. `in:library`: posts that I wrote, favourited, bookmarked,
        reposted or voted in, and no others. A quote without a partner is ignored. Guests find
        accounts and tags, and one page of them.

        `account_id`: Only posts of this account.
        `exclude_unreviewed`: Only tags that were reviewed: no tag needs a review.
        `following`: Only accounts that I follow.
        `limit`: Most results of each type.
        `offset`: Leave out so many of the best results.
        `q`: Words, a name, or the URL of an account or post of this server.
        `resolve`: Ask other servers: there are none.
        `type`: Only results of this type; the other lists are empty.
        """
        call = Call(
            "GET",
            "/api/v2/search",
            models.Search,
            query=query_of(
                {
                    "account_id": account_id,
                    "exclude_unreviewed": exclude_unreviewed,
                    "following": following,
                    "limit": limit,
                    "max_id": max_id,
                    "min_id": min_id,
                    "offset": offset,
                    "q": q,
                    "resolve": resolve,
                    "type": type,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)


class SiteCalls:
    """Calls about site."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self) -> models.InstanceV2:
        """This site."""
        call = Call("GET", "/api/v2/instance", models.InstanceV2, is_repeatable=True)
        return self._connection.send(call)

    def reactions(self) -> list[models.DeclaredReaction]:
        """At most 30 seconds old. Empty: services declared none."""
        call = Call(
            "GET", "/api/v1/instance/reactions", list[models.DeclaredReaction], is_repeatable=True
        )
        return self._connection.send(call)


class StatusesCalls:
    """Calls about statuses."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def bookmark(self, status_id: str) -> models.Status:
        """Bookmark a post. Bookmarks are private."""
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/bookmark",
            models.Status,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def bookmarks(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Status]:
        """Your bookmarks, the latest bookmark first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/bookmarks",
            list[models.Status],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def by_ids(self, ids: Sequence[str]) -> list[models.Status]:
        """Those of up to 40 posts that the caller may see, in the order asked, each once.

        `ids`: At most 40 status ids.
        """
        call = Call(
            "GET",
            "/api/v1/statuses",
            list[models.Status],
            query=query_of({"id[]": ids}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def context(
        self, status_id: str, *, limit: int | None = None, max_id: str | None = None
    ) -> models.Context:
        """Without `limit` all of it: up to 4,096 posts above and below and 8 MB, for guests 40 and
        60. With it a part of at most 500 kB, and a link to the next one.

        `limit`: Most posts above, and most below.
        """
        call = Call(
            "GET",
            f"/api/v1/statuses/{path_part(status_id)}/context",
            models.Context,
            query=query_of({"limit": limit, "max_id": max_id}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def create(
        self,
        status: str,
        *,
        idempotency_key: str | None = None,
        sensitive: bool | None = None,
        spoiler_text: str | None = None,
        language: str | None = None,
        visibility: Literal["public", "unlisted", "private", "direct"] | None = None,
        quote_approval_policy: Literal["public", "followers", "nobody"] | None = None,
        reply_approval_policy: Literal["public", "followers", "following", "mentioned", "nobody"]
        | None = None,
        quoted_status_id: str | None = None,
        poll: models.NewPoll | None = None,
        in_reply_to_id: str | None = None,
        media_ids: Sequence[str] | None = None,
        type: str | None = None,
        custom: Mapping[str, Any] | str | None = None,
    ) -> models.Status:
        """Publish a post or a reply. A repeated Idempotency-Key returns the first post.

        If that post was deleted in the meantime, the answer is 410.

        With `scheduled_at` it is published then, and the answer is a ScheduledStatus.

        `idempotency_key`: A repeated key returns the post of the first request.
        `status`: The text. A web address counts as 23 characters. With images or a quote it may
          be empty.
        `spoiler_text`: The limit is for the text and the spoiler together.
        `quote_approval_policy`: Who may quote it. Private posts can be quoted by their author
          only.
        `reply_approval_policy`: Who may reply to it, and in its thread. To a direct message all
          its readers may.
        `quoted_status_id`: The id of the post to quote.
        `in_reply_to_id`: The id of the post to answer.
        `media_ids`: Your images.
        `type`: `status`, or one that a service declared.
        `custom`: Given back as it is.
        """
        headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
        call = Call(
            "POST",
            "/api/v1/statuses",
            models.Status,
            body=body_of(
                {
                    "status": status,
                    "sensitive": sensitive,
                    "spoiler_text": spoiler_text,
                    "language": language,
                    "visibility": visibility,
                    "quote_approval_policy": quote_approval_policy,
                    "reply_approval_policy": reply_approval_policy,
                    "quoted_status_id": quoted_status_id,
                    "poll": poll,
                    "in_reply_to_id": in_reply_to_id,
                    "media_ids": media_ids,
                    "type": type,
                    "custom": custom,
                }
            ),
            headers=headers,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def delete(self, status_id: str, *, delete_media: bool | None = None) -> models.DeletedStatus:
        """Delete your own post. Posts of other accounts answer 404.

        `delete_media`: Remove its images within minutes. Else they can be used in a new post
          for a day.
        """
        call = Call(
            "DELETE",
            f"/api/v1/statuses/{path_part(status_id)}",
            models.DeletedStatus,
            query=query_of({"delete_media": delete_media}),
        )
        return self._connection.send(call)

    def edit(
        self,
        status_id: str,
        status: str,
        *,
        sensitive: bool | None = None,
        spoiler_text: str | None = None,
        language: str | None = None,
        media_ids: Sequence[str] | None = None,
        media_attributes: Sequence[models.EditedImage] | None = None,
        poll: models.EditedPoll | None = None,
        quote_approval_policy: Literal["public", "followers", "nobody"] | None = None,
        reply_approval_policy: Literal["public", "followers", "following", "mentioned", "nobody"]
        | None = None,
        type: str | None = None,
        custom: Mapping[str, Any] | str | None = None,
    ) -> models.Status:
        """Edit your own post. Texts and flags that are not sent become empty.

        It keeps its images, its poll and `custom` if these are not sent. Other options, or
        another number of choices, reset the votes of the poll. `media_attributes` changes what
        its images say. It keeps its type and what it quotes, and without
        `quote_approval_policy` and `reply_approval_policy` also who may quote it and reply.
        That is a second step: after a 503 send all again.

        `status`: The new text. A web address counts as 23 characters.
        `media_ids`: All images of the post; it keeps those it has if this is absent.
        `media_attributes`: For images of the post: what is not sent stays.
        `quote_approval_policy`: Who may quote it, from now on. It stays as it is if this is
          absent.
        `reply_approval_policy`: The same of replies.
        `type`: As it is: it cannot be changed.
        `custom`: It stays if this is absent.
        """
        call = Call(
            "PUT",
            f"/api/v1/statuses/{path_part(status_id)}",
            models.Status,
            body=body_of(
                {
                    "status": status,
                    "sensitive": sensitive,
                    "spoiler_text": spoiler_text,
                    "language": language,
                    "media_ids": media_ids,
                    "media_attributes": media_attributes,
                    "poll": poll,
                    "quote_approval_policy": quote_approval_policy,
                    "reply_approval_policy": reply_approval_policy,
                    "type": type,
                    "custom": custom,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def favourite(self, status_id: str) -> models.Status:
        """Favourite a post."""
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/favourite",
            models.Status,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def favourited_by(
        self,
        status_id: str,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """The accounts that favourited a post, latest first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            f"/api/v1/statuses/{path_part(status_id)}/favourited_by",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def favourites(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Status]:
        """Your favourites, the latest favourite first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/favourites",
            list[models.Status],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def get(self, status_id: str) -> models.Status:
        """One post."""
        call = Call(
            "GET", f"/api/v1/statuses/{path_part(status_id)}", models.Status, is_repeatable=True
        )
        return self._connection.send(call)

    def history(self, status_id: str) -> list[models.Version]:
        """All versions of a post, the first one first."""
        call = Call(
            "GET",
            f"/api/v1/statuses/{path_part(status_id)}/history",
            list[models.Version],
            is_repeatable=True,
        )
        return self._connection.send(call)

    def mute_thread(self, status_id: str) -> models.Status:
        """Mute the thread of a post: its posts no longer notify you."""
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/mute",
            models.Status,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def pin(self, status_id: str) -> models.Status:
        """Pin your own post to your page. Reposts cannot be pinned."""
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/pin",
            models.Status,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def quotes(
        self,
        status_id: str,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Status]:
        """The public and unlisted posts that quote a post, latest first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            f"/api/v1/statuses/{path_part(status_id)}/quotes",
            list[models.Status],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def react(self, status_id: str, reaction: str) -> models.Status:
        """React to a post: `favourite`, or a reaction that a service declared.

        `reaction`: Such as `clap`.
        """
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/react/{path_part(reaction)}",
            models.Status,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def reacted_by(
        self,
        status_id: str,
        reaction: str,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """The accounts that reacted to a post so, latest first.

        `reaction`: Such as `clap`.
        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            f"/api/v1/statuses/{path_part(status_id)}/reacted_by/{path_part(reaction)}",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def reblog(
        self, status_id: str, *, visibility: Literal["public", "unlisted"] | None = None
    ) -> models.Status:
        """Repost a post. Answers with the repost, which contains the post.

        `visibility`: A repost of an own private post is private.
        """
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/reblog",
            models.Status,
            body=body_of({"visibility": visibility}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def reblogged_by(
        self,
        status_id: str,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Account]:
        """The accounts that reposted a post, latest first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            f"/api/v1/statuses/{path_part(status_id)}/reblogged_by",
            list[models.Account],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def revoke_quote(self, status_id: str, quoting_id: str) -> models.Status:
        """Take your post out of a post that quotes it, for good. Answers with the quoting post."""
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/quotes/{path_part(quoting_id)}/revoke",
            models.Status,
        )
        return self._connection.send(call)

    def set_policies(
        self,
        status_id: str,
        *,
        quote_approval_policy: Literal["public", "followers", "nobody"] | None = None,
        reply_approval_policy: Literal["public", "followers", "following", "mentioned", "nobody"]
        | None = None,
    ) -> models.Status:
        """Change who may quote your post, or reply to it. Posts that do stay."""
        call = Call(
            "PUT",
            f"/api/v1/statuses/{path_part(status_id)}/interaction_policy",
            models.Status,
            body=body_of(
                {
                    "quote_approval_policy": quote_approval_policy,
                    "reply_approval_policy": reply_approval_policy,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def source(self, status_id: str) -> models.TypedText:
        """A post as its author typed it, to edit it."""
        call = Call(
            "GET",
            f"/api/v1/statuses/{path_part(status_id)}/source",
            models.TypedText,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def translate(self, status_id: str, *, lang: str | None = None) -> models.Translation:
        """Of a public or unlisted post, or of what a repost shows. Without `lang` into the
        language of the site. 404 if this site translates nothing:
        `configuration.translation.enabled`.

        `lang`: Into which language.
        """
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/translate",
            models.Translation,
            body=body_of({"lang": lang}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def unbookmark(self, status_id: str) -> models.Status:
        """Undo your bookmark of a post."""
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/unbookmark",
            models.Status,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def unfavourite(self, status_id: str) -> models.Status:
        """Undo your favourite of a post."""
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/unfavourite",
            models.Status,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def unmute_thread(self, status_id: str) -> models.Status:
        """Let the thread of a post notify you again."""
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/unmute",
            models.Status,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def unpin(self, status_id: str) -> models.Status:
        """Undo the pin of your own post."""
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/unpin",
            models.Status,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def unreact(self, status_id: str, reaction: str) -> models.Status:
        """Undo your reaction to a post.

        `reaction`: Such as `clap`.
        """
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/unreact/{path_part(reaction)}",
            models.Status,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def unreblog(self, status_id: str) -> models.Status:
        """Undo your repost of a post. Answers with the post."""
        call = Call(
            "POST",
            f"/api/v1/statuses/{path_part(status_id)}/unreblog",
            models.Status,
            is_repeatable=True,
        )
        return self._connection.send(call)


class TagsCalls:
    """Calls about tags."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def change_followed_settings(self, home: bool) -> models.FollowedTagsSettings:
        """Choose it. In the beginning home does not show them."""
        call = Call(
            "PUT",
            "/api/v1/followed_tags/settings",
            models.FollowedTagsSettings,
            body=body_of({"home": home}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def feature(self, name: str) -> models.Tag:
        """Show a tag on my profile."""
        call = Call(
            "POST", f"/api/v1/tags/{path_part(name)}/feature", models.Tag, is_repeatable=True
        )
        return self._connection.send(call)

    def featured(self) -> list[models.FeaturedTag]:
        """The tags that I show on my profile, the latest first."""
        call = Call("GET", "/api/v1/featured_tags", list[models.FeaturedTag], is_repeatable=True)
        return self._connection.send(call)

    def follow(self, name: str) -> models.Tag:
        """Follow a tag. Its posts are on the timeline of followed tags, and perhaps at home."""
        call = Call(
            "POST", f"/api/v1/tags/{path_part(name)}/follow", models.Tag, is_repeatable=True
        )
        return self._connection.send(call)

    def followed(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Tag]:
        """The tags that I follow, the latest follow first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/followed_tags",
            list[models.Tag],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def followed_settings(self) -> models.FollowedTagsSettings:
        """Whether my home timeline shows posts with the tags that I follow."""
        call = Call(
            "GET", "/api/v1/followed_tags/settings", models.FollowedTagsSettings, is_repeatable=True
        )
        return self._connection.send(call)

    def get(self, name: str) -> models.Tag:
        """A tag, and how it was used in the last days. A tag that no post has is one too."""
        call = Call("GET", f"/api/v1/tags/{path_part(name)}", models.Tag, is_repeatable=True)
        return self._connection.send(call)

    def unfeature(self, name: str) -> models.Tag:
        """Take a tag off my profile."""
        call = Call(
            "POST", f"/api/v1/tags/{path_part(name)}/unfeature", models.Tag, is_repeatable=True
        )
        return self._connection.send(call)

    def unfollow(self, name: str) -> models.Tag:
        """Take a tag off the list of followed tags."""
        call = Call(
            "POST", f"/api/v1/tags/{path_part(name)}/unfollow", models.Tag, is_repeatable=True
        )
        return self._connection.send(call)


class TimelinesCalls:
    """Calls about timelines."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def catch_up(
        self,
        *,
        after_id: str | None = None,
        bound: str | None = None,
        exclude_reblogs: bool | None = None,
        exclude_replies: bool | None = None,
        limit: int | None = None,
    ) -> models.CatchUp:
        """What arrived in my home timeline since my marker, by account, up to a fixed bound.

        `after_id`: The last status of the page before; needs `bound`. Use the `next` link.
        `bound`: Of an earlier answer: only what had arrived then. Default: up to now.
        `exclude_reblogs`: Leave every repost out.
        `exclude_replies`: Leave replies out, but not those to the own posts of their authors.
        `limit`: Most statuses on the page.
        """
        call = Call(
            "GET",
            "/api/v1/timelines/home/catch_up",
            models.CatchUp,
            query=query_of(
                {
                    "after_id": after_id,
                    "bound": bound,
                    "exclude_reblogs": exclude_reblogs,
                    "exclude_replies": exclude_replies,
                    "limit": limit,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def end_catch_up(self, bound: str) -> models.CaughtUp:
        """Moves the home marker to the bound, unless it is further already. Returns the marker.

        `bound`: Of the catch-up that was read.
        """
        call = Call(
            "POST",
            "/api/v1/timelines/home/catch_up",
            models.CaughtUp,
            body=body_of({"bound": bound}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def followed_tags(
        self,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        only_media: bool | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Status]:
        """Public posts with any of the tags that I follow, newest first, replies too.

        `limit`: Most items on the page.
        `only_media`: Only posts with images.
        """
        call = Call(
            "GET",
            "/api/v1/timelines/followed_tags",
            list[models.Status],
            query=query_of(
                {
                    "limit": limit,
                    "max_id": max_id,
                    "min_id": min_id,
                    "only_media": only_media,
                    "since_id": since_id,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def home(
        self,
        *,
        around_id: str | None = None,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.HomeItem]:
        """Posts of the accounts that I follow and my own, newest first.

        `around_id`: A page around this status, which may be deleted: at most half of the page
          is newer, then the status and older ones. Without promotions. 422 with another cursor.
        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            "/api/v1/timelines/home",
            list[models.HomeItem],
            query=query_of(
                {
                    "around_id": around_id,
                    "limit": limit,
                    "max_id": max_id,
                    "min_id": min_id,
                    "since_id": since_id,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def news(self, *, max_id: str | None = None, since_id: str | None = None) -> models.News:
        """Has anybody I follow, or I myself elsewhere, published anything since, or between two?

        May be wrong in one direction: what is named may be gone again.
        """
        call = Call(
            "GET",
            "/api/v1/timelines/home/news",
            models.News,
            query=query_of({"max_id": max_id, "since_id": since_id}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def of_list(
        self,
        list_id: str,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.HomeStatus]:
        """Posts of the members of one of my lists, newest first.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            f"/api/v1/timelines/list/{path_part(list_id)}",
            list[models.HomeStatus],
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def public(
        self,
        *,
        limit: int | None = None,
        local: bool | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        only_media: bool | None = None,
        remote: bool | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Status]:
        """The newest posts of all accounts, without reposts and replies to others.

        `limit`: Most items on the page.
        `local`: Posts of this server: all are.
        `only_media`: Only posts with images.
        `remote`: Posts of other servers: none.
        """
        call = Call(
            "GET",
            "/api/v1/timelines/public",
            list[models.Status],
            query=query_of(
                {
                    "limit": limit,
                    "local": local,
                    "max_id": max_id,
                    "min_id": min_id,
                    "only_media": only_media,
                    "remote": remote,
                    "since_id": since_id,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))

    def tag(
        self,
        name: str,
        *,
        all: Sequence[str] | None = None,
        any: Sequence[str] | None = None,
        limit: int | None = None,
        local: bool | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        none: Sequence[str] | None = None,
        only_media: bool | None = None,
        remote: bool | None = None,
        since_id: str | None = None,
    ) -> Pages[models.Status]:
        """Public posts with a tag, newest first, replies too.

        `all`: Only posts that have all of these tags too. At most 4 tags.
        `any`: Posts with one of these tags too. At most 4 tags.
        `limit`: Most items on the page.
        `local`: Posts of this server: all are.
        `none`: Only posts that have none of these tags. At most 4 tags.
        `only_media`: Only posts with images.
        `remote`: Posts of other servers: none.
        """
        call = Call(
            "GET",
            f"/api/v1/timelines/tag/{path_part(name)}",
            list[models.Status],
            query=query_of(
                {
                    "all[]": all,
                    "any[]": any,
                    "limit": limit,
                    "local": local,
                    "max_id": max_id,
                    "min_id": min_id,
                    "none[]": none,
                    "only_media": only_media,
                    "remote": remote,
                    "since_id": since_id,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call))


class TrendsCalls:
    """Calls about trends."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def statuses(
        self, *, limit: str | None = None, offset: str | None = None
    ) -> list[models.Status]:
        """Public posts of the last two days that many favourited or reposted, the newer ones first
        among equals. Computed every five minutes.
        """
        call = Call(
            "GET",
            "/api/v1/trends/statuses",
            list[models.Status],
            query=query_of({"limit": limit, "offset": offset}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def tags(self, *, limit: str | None = None, offset: str | None = None) -> list[models.Tag]:
        """Tags that more accounts used in the last day than usually. Computed every 5 minutes."""
        call = Call(
            "GET",
            "/api/v1/trends/tags",
            list[models.Tag],
            query=query_of({"limit": limit, "offset": offset}),
            is_repeatable=True,
        )
        return self._connection.send(call)


class EventsCalls:
    """Calls about events."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self, *, after: str | None = None, limit: int | None = None) -> models.Events:
        """What happened on the whole site, from a position on. Only for services.

        `after`: The position of the page before. `oldest`: from the oldest whole day on.
          Absent: no events, and the position of now.
        `limit`: Read so many changes, 100 by default, 1,000 at most; 10,000 for a bulk service.
        """
        call = Call(
            "GET",
            "/api/v1/services/events",
            models.Events,
            query=query_of({"after": after, "limit": limit}),
            is_repeatable=True,
        )
        return self._connection.send(call)


class ObjectsCalls:
    """Calls about objects."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def declare_kind(self, kind: str, words: Mapping[str, str]) -> models.DeclaredKind:
        """Declare it, or change its words. It may be repeated. At most 50, which stay.

        `kind`: Such as `recipe`.
        `words`: What it is called, by language: `{"en": "cooked"}`.
        """
        call = Call(
            "PUT",
            f"/api/v1/services/object_kinds/{path_part(kind)}",
            models.DeclaredKind,
            body=body_of({"words": words}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def delete(self, kind: str, external_id: str) -> models.Object:
        """An object of a service, by its kind and the service's own id. Only for services.

        PUT creates it or changes it, and may be repeated. Fields that are not sent stay as they
        are; an empty text takes `url` or `image` away. `account_id` is the account that people
        follow, and for which the service posts. `active`: false, alone, hides it and keeps its
        data, and true brings it back. DELETE hides it at once; its data and its followers go
        later, as of a deleted account.

        `kind`: Such as `recipe`.
        `external_id`: The id that your product has for this object.
        """
        call = Call(
            "DELETE",
            f"/api/v1/services/objects/{path_part(kind)}/{path_part(external_id)}",
            models.Object,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def get(self, kind: str, external_id: str) -> models.Object:
        """An object of a service, by its kind and the service's own id. Only for services.

        PUT creates it or changes it, and may be repeated. Fields that are not sent stay as they
        are; an empty text takes `url` or `image` away. `account_id` is the account that people
        follow, and for which the service posts. `active`: false, alone, hides it and keeps its
        data, and true brings it back. DELETE hides it at once; its data and its followers go
        later, as of a deleted account.

        `kind`: Such as `recipe`.
        `external_id`: The id that your product has for this object.
        """
        call = Call(
            "GET",
            f"/api/v1/services/objects/{path_part(kind)}/{path_part(external_id)}",
            models.Object,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def kinds(self) -> list[models.DeclaredKind]:
        """The kinds of objects that services declared, by name. Only for services."""
        call = Call(
            "GET", "/api/v1/services/object_kinds", list[models.DeclaredKind], is_repeatable=True
        )
        return self._connection.send(call)

    def put(
        self,
        kind: str,
        external_id: str,
        *,
        title: str | None = None,
        username: str | None = None,
        note: str | None = None,
        url: str | None = None,
        image: str | None = None,
        custom: Mapping[str, Any] | None = None,
        locked: bool | None = None,
        active: bool | None = None,
    ) -> models.ProvisionedObject:
        """An object of a service, by its kind and the service's own id. Only for services.

        PUT creates it or changes it, and may be repeated. Fields that are not sent stay as they
        are; an empty text takes `url` or `image` away. `account_id` is the account that people
        follow, and for which the service posts. `active`: false, alone, hides it and keeps its
        data, and true brings it back. DELETE hides it at once; its data and its followers go
        later, as of a deleted account.

        `kind`: Such as `recipe`.
        `external_id`: The id that your product has for this object.
        `title`: A new object needs it.
        `username`: By which posts mention it; absent: one is made.
        `custom`: Your own data: at most 4 kB.
        `locked`: It approves its followers, and only they post.
        `active`: False, without other fields: no account sees it, until it is true.
        """
        call = Call(
            "PUT",
            f"/api/v1/services/objects/{path_part(kind)}/{path_part(external_id)}",
            models.ProvisionedObject,
            body=body_of(
                {
                    "title": title,
                    "username": username,
                    "note": note,
                    "url": url,
                    "image": image,
                    "custom": custom,
                    "locked": locked,
                    "active": active,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def put_many(self, objects: Sequence[models.WantedObjectField]) -> list[models.ObjectOutcome]:
        """Up to 1,000 objects at once, each as by a PUT of its own. One answer each, in the order
        sent.

        `status` of an answer is the one that its own PUT would have. Only for services.
        """
        call = Call(
            "PUT",
            "/api/v1/services/objects",
            list[models.ObjectOutcome],
            body=body_of({"objects": objects}),
            is_repeatable=True,
        )
        return self._connection.send(call)


class PostTypesCalls:
    """Calls about post types."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def declare(self, type_name: str, words: Mapping[str, str]) -> models.PostType:
        """Declare it, or change its words. It may be repeated. At most 50 types.

        `type_name`: Such as `recipe.cooked`.
        `words`: What it is called, by language: `{"en": "cooked"}`.
        """
        call = Call(
            "PUT",
            f"/api/v1/services/post_types/{path_part(type_name)}",
            models.PostType,
            body=body_of({"words": words}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def declared(self) -> list[models.PostType]:
        """The types of posts that services declared, by name. Only for services."""
        call = Call("GET", "/api/v1/services/post_types", list[models.PostType], is_repeatable=True)
        return self._connection.send(call)

    def remove(self, type_name: str) -> None:
        """Remove it: new posts cannot have it; others keep it. It may be repeated.

        `type_name`: Such as `recipe.cooked`.
        """
        call = Call(
            "DELETE",
            f"/api/v1/services/post_types/{path_part(type_name)}",
            type(None),
            is_repeatable=True,
        )
        return self._connection.send(call)


class ProvisioningCalls:
    """Calls about provisioning."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def delete(self, external_id: str) -> models.BoundAccount:
        """The account of an external id. PUT creates it or changes its profile, and may be
        repeated.

        Fields that are not sent stay as they are. With another username the account is renamed:
        the one before stays its own and leads to it. `active`: false, alone, suspends the
        account without an end and keeps its data, and true brings it back. DELETE begins what a
        person's own deletion begins. All may be repeated. Only for services.

        `external_id`: The id that your product has for this person.
        """
        call = Call(
            "DELETE",
            f"/api/v1/services/accounts/{path_part(external_id)}",
            models.BoundAccount,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def find(
        self, *, external_ids: Sequence[str] | None = None, account_ids: Sequence[str] | None = None
    ) -> list[models.BoundAccount]:
        """The accounts of up to 1,000 external ids, or the external ids of up to 1,000 accounts.

        In the order asked; those without are left out. Only for services.
        """
        call = Call(
            "POST",
            "/api/v1/services/external_ids",
            list[models.BoundAccount],
            body=body_of({"external_ids": external_ids, "account_ids": account_ids}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def get(self, external_id: str) -> models.BoundAccount:
        """The account of an external id. PUT creates it or changes its profile, and may be
        repeated.

        Fields that are not sent stay as they are. With another username the account is renamed:
        the one before stays its own and leads to it. `active`: false, alone, suspends the
        account without an end and keeps its data, and true brings it back. DELETE begins what a
        person's own deletion begins. All may be repeated. Only for services.

        `external_id`: The id that your product has for this person.
        """
        call = Call(
            "GET",
            f"/api/v1/services/accounts/{path_part(external_id)}",
            models.BoundAccount,
            is_repeatable=True,
        )
        return self._connection.send(call)

    def put(
        self,
        external_id: str,
        *,
        username: str | None = None,
        display_name: str | None = None,
        note: str | None = None,
        locked: bool | None = None,
        bot: bool | None = None,
        discoverable: bool | None = None,
        indexable: bool | None = None,
        hide_collections: bool | None = None,
        active: bool | None = None,
    ) -> models.ProvisionedAccount:
        """The account of an external id. PUT creates it or changes its profile, and may be
        repeated.

        Fields that are not sent stay as they are. With another username the account is renamed:
        the one before stays its own and leads to it. `active`: false, alone, suspends the
        account without an end and keeps its data, and true brings it back. DELETE begins what a
        person's own deletion begins. All may be repeated. Only for services.

        `external_id`: The id that your product has for this person.
        `username`: A new account needs it.
        `active`: False, without other fields: no account sees it and it cannot sign in, until
          it is true. 404 if it was never created.
        """
        call = Call(
            "PUT",
            f"/api/v1/services/accounts/{path_part(external_id)}",
            models.ProvisionedAccount,
            body=body_of(
                {
                    "username": username,
                    "display_name": display_name,
                    "note": note,
                    "locked": locked,
                    "bot": bot,
                    "discoverable": discoverable,
                    "indexable": indexable,
                    "hide_collections": hide_collections,
                    "active": active,
                }
            ),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def put_many(
        self, accounts: Sequence[models.WantedAccountField]
    ) -> list[models.ProvisioningOutcome]:
        """Up to 100 accounts at once, each as by a PUT of its own. One answer each, in the order
        sent.

        `status` of an answer is the one that its own PUT would have. Only for services.
        """
        call = Call(
            "PUT",
            "/api/v1/services/accounts",
            list[models.ProvisioningOutcome],
            body=body_of({"accounts": accounts}),
            is_repeatable=True,
        )
        return self._connection.send(call)


class ReactionsCalls:
    """Calls about reactions."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def declare(
        self, reaction_name: str, words: Mapping[str, str], *, notifies: bool | None = None
    ) -> models.DeclaredReaction:
        """Declare it, or change its words. It may be repeated. At most 16, which stay.

        `reaction_name`: Such as `cooked_it`.
        `words`: What it is called, by language: `{"en": "cooked"}`.
        `notifies`: Whether the author of the post is notified; the default is yes.
        """
        call = Call(
            "PUT",
            f"/api/v1/services/reactions/{path_part(reaction_name)}",
            models.DeclaredReaction,
            body=body_of({"words": words, "notifies": notifies}),
            is_repeatable=True,
        )
        return self._connection.send(call)

    def declared(self) -> list[models.DeclaredReaction]:
        """The reactions that services declared, in their order. Only for services."""
        call = Call(
            "GET", "/api/v1/services/reactions", list[models.DeclaredReaction], is_repeatable=True
        )
        return self._connection.send(call)


class RelationsCalls:
    """Calls about relations."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def mutuals(
        self,
        account_id: str,
        *,
        limit: int | None = None,
        max_id: str | None = None,
        min_id: str | None = None,
        since_id: str | None = None,
    ) -> Pages[models.MutualField]:
        """The accounts that follow an account and that it follows: how many, and since when.

        The newest come first, quiet follows included. Only for services.

        `limit`: Most items on the page.
        """
        call = Call(
            "GET",
            f"/api/v1/services/mutuals/{path_part(account_id)}",
            models.Mutuals,
            query=query_of(
                {"limit": limit, "max_id": max_id, "min_id": min_id, "since_id": since_id}
            ),
            is_repeatable=True,
        )
        return self._connection.pages(PageReader(call, "mutuals"))

    def of_pairs(self, pairs: Sequence[models.PairField]) -> list[models.Relation]:
        """The relations of up to 1,000 pairs of any accounts, in the order asked. Only for
        services.
        """
        call = Call(
            "POST",
            "/api/v1/services/relations",
            list[models.Relation],
            body=body_of({"pairs": pairs}),
            is_repeatable=True,
        )
        return self._connection.send(call)


class AccountCalls:
    """What can be read and done as one account."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.accounts = AccountsCalls(connection)
        self.conversations = ConversationsCalls(connection)
        self.filters = FiltersCalls(connection)
        self.follow_requests = FollowRequestsCalls(connection)
        self.lists = ListsCalls(connection)
        self.markers = MarkersCalls(connection)
        self.media = MediaCalls(connection)
        self.notifications = NotificationsCalls(connection)
        self.polls = PollsCalls(connection)
        self.promotions = PromotionsCalls(connection)
        self.reports = ReportsCalls(connection)
        self.scheduled_statuses = ScheduledStatusesCalls(connection)
        self.search = SearchCalls(connection)
        self.site = SiteCalls(connection)
        self.statuses = StatusesCalls(connection)
        self.tags = TagsCalls(connection)
        self.timelines = TimelinesCalls(connection)
        self.trends = TrendsCalls(connection)
