"""What Tideline's API answers and takes.

Generated from its OpenAPI document: do not edit.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, Required, TypedDict

import msgspec


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """Any object of an answer. It cannot be changed, and it can be compared and pickled."""


class Account(Entity, frozen=True, kw_only=True):
    """`limited`: Moderators show it to its followers only.
    `group`: It is an object of a service.
    `object`: Only of an object.
    `note`: HTML.
    `suspended`: Never: an account that is suspended is 404.
    `memorial`: Never.
    `moved`: Always null: accounts do not move to other sites.
    """

    limited: "bool | None" = None
    id: str
    username: str
    acct: str
    display_name: str
    locked: bool
    bot: bool
    discoverable: bool
    indexable: bool
    group: bool
    object: "ServiceObject | None" = None
    created_at: datetime
    note: str
    url: str
    uri: str
    avatar: str
    avatar_static: str
    header: str
    header_static: str
    hide_collections: bool
    noindex: bool
    emojis: "list[Any]"
    roles: "list[Any]"
    suspended: "bool | None" = None
    memorial: "bool | None" = None
    moved: "dict[str, Any] | None" = None
    fields: "list[Field]"
    followers_count: int
    following_count: int
    statuses_count: int
    last_status_at: "date | None"


class AccountWarning(Entity, frozen=True, kw_only=True):
    """A decision of the moderators on the account. It names no moderator and no reporter.

    `id`: That of the strike, for an appeal.
    `text`: The moderators' reason.
    `ends_at`: When the restriction ends by itself, as decided then. Mastodon has no such.
    `action`: Mastodon's word: none (a warning, or a hidden photo), silence, disable,
      suspend, or delete_statuses (a post that was deleted or hidden).
    `measure`: The same as the action of a strike, which also knows hide_statuses and
      hide_images. Mastodon has no such.
    """

    id: str
    text: str
    status_ids: "list[str] | None"
    appeal: "Appeal | None"
    created_at: datetime
    ends_at: "datetime | None"
    target_account: "Account"
    action: str
    measure: str


class Appeal(Entity, frozen=True, kw_only=True):
    """`state`: pending, approved or rejected."""

    text: str
    state: str


class BoundAccount(Entity, frozen=True, kw_only=True):
    """`suspended`: By moderators, or because it is deleted or inactive."""

    external_id: str
    account_id: str
    username: str
    suspended: bool


class CatchUp(Entity, frozen=True, kw_only=True):
    """`bound`: Send it to move the marker when the reader is done.
    `since_id`: The marker's status; null if there is no marker.
    `statuses_count`: Of all pages, when the first page was made.
    `accounts_count`: How many groups all pages have.
    `left_out`: What is older than the newest 2,000 entries.
    `reblogged_together`: Posts that two or more followees reposted, the most reposted
      first.
    `groups`: Accounts with few statuses first.
    """

    bound: str
    since_id: "str | None"
    statuses_count: int
    accounts_count: int
    left_out: "CatchUpLeftOut | None"
    reblogged_together: "list[HomeStatus]"
    groups: "list[CatchUpGroup]"


class CatchUpGroup(Entity, frozen=True, kw_only=True):
    """`account`: Who posted or reposted these.
    `statuses_count`: Of the whole group, when the first page was made.
    `is_continued`: The page before has the beginning of the group.
    `statuses`: Newest first.
    """

    account: "Account"
    statuses_count: int
    is_continued: bool
    statuses: "list[HomeStatus]"


class CatchUpLeftOut(Entity, frozen=True, kw_only=True):
    """`max_id`: For `/api/v1/timelines/home`: entries below this status.
    `min_id`: and above this one.
    """

    max_id: str
    min_id: str


class CaughtUp(Entity, frozen=True, kw_only=True):
    home: "HomeMarker"


class Context(Entity, frozen=True, kw_only=True):
    """`ancestors`: The posts that it answers, the root first.
    `descendants`: Its replies, each after the post it answers.
    """

    ancestors: "list[Status]"
    descendants: "list[Status]"


class Conversation(Entity, frozen=True, kw_only=True):
    """`id`: The id of the first post of the thread.
    `accounts`: The others in the latest post.
    """

    id: str
    unread: bool
    accounts: "list[Account]"
    last_status: "Status"


class CredentialAccount(Entity, frozen=True, kw_only=True):
    """`limited`: Moderators show it to its followers only.
    `group`: It is an object of a service.
    `object`: Only of an object.
    `note`: HTML.
    `suspended`: Never: an account that is suspended is 404.
    `memorial`: Never.
    `moved`: Always null: accounts do not move to other sites.
    `source`: For the owner only.
    """

    limited: "bool | None" = None
    id: str
    username: str
    acct: str
    display_name: str
    locked: bool
    bot: bool
    discoverable: bool
    indexable: bool
    group: bool
    object: "ServiceObject | None" = None
    created_at: datetime
    note: str
    url: str
    uri: str
    avatar: str
    avatar_static: str
    header: str
    header_static: str
    hide_collections: bool
    noindex: bool
    emojis: "list[Any]"
    roles: "list[Any]"
    suspended: "bool | None" = None
    memorial: "bool | None" = None
    moved: "dict[str, Any] | None" = None
    fields: "list[Field]"
    followers_count: int
    following_count: int
    statuses_count: int
    last_status_at: "date | None"
    source: "Source"
    role: "Role"


class DeclaredKind(Entity, frozen=True, kw_only=True):
    name: str
    words: "dict[str, Any]"


class DeclaredReaction(Entity, frozen=True, kw_only=True):
    """`words`: What it is called, by language.
    `notifies`: Whether the author of the post is notified.
    """

    name: str
    words: "dict[str, Any]"
    notifies: bool


class DeletedStatus(Entity, frozen=True, kw_only=True):
    """`id`: Decimal digits; a later post has a higher number.
    `conversation_id`: The id of the first post of the thread.
    `content`: HTML.
    `reblog`: The whole original post; null unless this is a repost.
    `application`: The client that published the post.
    `type`: Absent: `status`.
    `custom`: What the product added. Absent: nothing.
    `quotes_count`: Of public and unlisted posts.
    `reactions`: Besides favourites. Absent: the post has none.
    `muted`: Whether the caller muted the thread of the post.
    `pinned`: Whether the caller wrote and pinned the post.
    `text`: The text as its author typed it.
    """

    id: str
    created_at: datetime
    conversation_id: str
    in_reply_to_id: "str | None"
    in_reply_to_account_id: "str | None"
    sensitive: bool
    spoiler_text: str
    visibility: str
    language: "str | None"
    uri: str
    url: str
    content: str
    reblog: "Status | None"
    application: "dict[str, Any] | None"
    media_attachments: "list[dict[str, Any]]"
    mentions: "list[dict[str, Any]]"
    tags: "list[dict[str, Any]]"
    emojis: "list[dict[str, Any]]"
    card: "dict[str, Any] | None"
    poll: "Poll | None"
    edited_at: "datetime | None"
    quote: "Quote | None"
    quote_approval: "QuoteApproval"
    reply_approval: "ReplyApproval"
    type: "str | None" = None
    custom: "dict[str, Any] | None" = None
    filtered: "list[FilterResult]"
    account: "Account"
    replies_count: int
    reblogs_count: int
    favourites_count: int
    quotes_count: int
    reactions: "list[Reaction] | None" = None
    favourited: bool
    reblogged: bool
    muted: bool
    bookmarked: bool
    pinned: bool
    text: str


class Event(Entity, frozen=True, kw_only=True):
    """`id`: The same each time the event is read.
    `timestamp`: When it happened.
    `data`: The ids, and for relations and marks their present state.
    """

    id: str
    type: str
    timestamp: datetime
    data: "dict[str, Any]"


class Events(Entity, frozen=True, kw_only=True):
    """`position`: For `after` of the next page; keep it once the events are done.
    `has_more`: There are more events already.
    `missing`: Databases that did not answer; their events come later.
    """

    events: "list[Event]"
    position: str
    has_more: bool
    missing: list[str]


class FamiliarFollowers(Entity, frozen=True, kw_only=True):
    id: str
    accounts: "list[Account]"


class FeaturedTag(Entity, frozen=True, kw_only=True):
    """`statuses_count`: Public and unlisted, among the author's newest 1,000 posts with tags."""

    id: str
    name: str
    url: str
    statuses_count: str
    last_status_at: "date | None"


class Field(Entity, frozen=True, kw_only=True):
    """`value`: HTML; the text as it was typed in `source`."""

    name: str
    value: str
    verified_at: "datetime | None"


class Filter(Entity, frozen=True, kw_only=True):
    id: str
    title: str
    context: list[str]
    expires_at: "datetime | None"
    filter_action: str
    keywords: "list[FilterKeyword]"
    statuses: "list[FilterStatus]"


class FilterHead(Entity, frozen=True, kw_only=True):
    id: str
    title: str
    context: list[str]
    expires_at: "datetime | None"
    filter_action: str


class FilterKeyword(Entity, frozen=True, kw_only=True):
    id: str
    keyword: str
    whole_word: bool


class FilterResult(Entity, frozen=True, kw_only=True):
    filter: "FilterHead"
    keyword_matches: "list[str] | None"
    status_matches: "list[str] | None"


class FilterStatus(Entity, frozen=True, kw_only=True):
    id: str
    status_id: str


class FollowedTagsSettings(Entity, frozen=True, kw_only=True):
    """`home`: Whether home shows public posts with my followed tags."""

    home: bool


class GroupedNotificationsResults(Entity, frozen=True, kw_only=True):
    accounts: "list[Account]"
    partial_accounts: "list[dict[str, Any]] | None" = None
    statuses: "list[Status]"
    notification_groups: "list[NotificationGroup]"


class HomeItem(Entity, frozen=True, kw_only=True):
    """`id`: Decimal digits; a later post has a higher number.
    `conversation_id`: The id of the first post of the thread.
    `content`: HTML.
    `reblog`: The whole original post; null unless this is a repost.
    `application`: The client that published the post.
    `type`: Of a post as in a Status; of a promotion the kind of its target.
    `custom`: What the product added. Absent: nothing.
    `quotes_count`: Of public and unlisted posts.
    `reactions`: Besides favourites. Absent: the post has none.
    `muted`: Whether the caller muted the thread of the post.
    `pinned`: Whether the caller wrote and pinned the post.
    `reblogged_by`: The followees who reposted the post; only for reposts.
    `promoted`: True for a promotion, else absent.
    `campaign`: For a promotion: the id of its campaign.
    `ad`: For a promoted ad, instead of a post.
    """

    id: str
    created_at: datetime
    conversation_id: str
    in_reply_to_id: "str | None"
    in_reply_to_account_id: "str | None"
    sensitive: bool
    spoiler_text: str
    visibility: str
    language: "str | None"
    uri: str
    url: str
    content: str
    reblog: "Status | None"
    application: "dict[str, Any] | None"
    media_attachments: "list[dict[str, Any]]"
    mentions: "list[dict[str, Any]]"
    tags: "list[dict[str, Any]]"
    emojis: "list[dict[str, Any]]"
    card: "dict[str, Any] | None"
    poll: "Poll | None"
    edited_at: "datetime | None"
    quote: "Quote | None"
    quote_approval: "QuoteApproval"
    reply_approval: "ReplyApproval"
    type: "str | None" = None
    custom: "dict[str, Any] | None" = None
    filtered: "list[FilterResult]"
    account: "Account"
    replies_count: int
    reblogs_count: int
    favourites_count: int
    quotes_count: int
    reactions: "list[Reaction] | None" = None
    favourited: bool
    reblogged: bool
    muted: bool
    bookmarked: bool
    pinned: bool
    reblogged_by: "list[Account] | None" = None
    promoted: "bool | None" = None
    campaign: "str | None" = None
    ad: "PromotedAd | None" = None


class HomeMarker(Entity, frozen=True, kw_only=True):
    """GET has the unread fields, unless a shard that they need does not answer; POST lacks
    them.

    `last_read_id`: The newest status or notification that was read.
    `version`: Grows with every write.
    `unread_count`: Unread home entries of others, at most 500.
    `unread_is_more`: There are more than unread_count: show it with a plus.
    """

    last_read_id: str
    version: int
    updated_at: datetime
    unread_count: "int | None" = None
    unread_is_more: "bool | None" = None


class HomeStatus(Entity, frozen=True, kw_only=True):
    """`id`: Decimal digits; a later post has a higher number.
    `conversation_id`: The id of the first post of the thread.
    `content`: HTML.
    `reblog`: The whole original post; null unless this is a repost.
    `application`: The client that published the post.
    `type`: Absent: `status`.
    `custom`: What the product added. Absent: nothing.
    `quotes_count`: Of public and unlisted posts.
    `reactions`: Besides favourites. Absent: the post has none.
    `muted`: Whether the caller muted the thread of the post.
    `pinned`: Whether the caller wrote and pinned the post.
    `reblogged_by`: The followees who reposted the post; only for reposts.
    """

    id: str
    created_at: datetime
    conversation_id: str
    in_reply_to_id: "str | None"
    in_reply_to_account_id: "str | None"
    sensitive: bool
    spoiler_text: str
    visibility: str
    language: "str | None"
    uri: str
    url: str
    content: str
    reblog: "Status | None"
    application: "dict[str, Any] | None"
    media_attachments: "list[dict[str, Any]]"
    mentions: "list[dict[str, Any]]"
    tags: "list[dict[str, Any]]"
    emojis: "list[dict[str, Any]]"
    card: "dict[str, Any] | None"
    poll: "Poll | None"
    edited_at: "datetime | None"
    quote: "Quote | None"
    quote_approval: "QuoteApproval"
    reply_approval: "ReplyApproval"
    type: "str | None" = None
    custom: "dict[str, Any] | None" = None
    filtered: "list[FilterResult]"
    account: "Account"
    replies_count: int
    reblogs_count: int
    favourites_count: int
    quotes_count: int
    reactions: "list[Reaction] | None" = None
    favourited: bool
    reblogged: bool
    muted: bool
    bookmarked: bool
    pinned: bool
    reblogged_by: "list[Account] | None" = None


class InstanceV2(Entity, frozen=True, kw_only=True):
    domain: str
    title: str
    version: str
    source_url: str
    description: str
    usage: "dict[str, Any]"
    thumbnail: "dict[str, Any]"
    icon: "list[Any]"
    languages: list[str]
    configuration: "dict[str, Any]"
    registrations: "dict[str, Any]"
    api_versions: "dict[str, Any]"
    contact: "dict[str, Any]"
    rules: "list[Any]"


class List(Entity, frozen=True, kw_only=True):
    """`replies_policy`: Which replies of members are shown, besides replies to me and to
      themselves: replies to accounts I follow, to members, or none.
    `exclusive`: What members post is not at home.
    `members_count`: Only if members were asked for.
    `sample_account_ids`: The newest members, at most 3.
    """

    id: str
    title: str
    replies_policy: str
    exclusive: bool
    members_count: "int | None" = None
    sample_account_ids: "list[str] | None" = None


class MarkerEntity(Entity, frozen=True, kw_only=True):
    """`last_read_id`: The newest status or notification that was read.
    `version`: Grows with every write.
    """

    last_read_id: str
    version: int
    updated_at: datetime


class Markers(Entity, frozen=True, kw_only=True):
    """Markers that were never set are absent."""

    home: "HomeMarker | None" = None
    notifications: "MarkerEntity | None" = None


class MediaAttachment(Entity, frozen=True, kw_only=True):
    """`meta`: Sizes of the image and of its preview, and the focus."""

    id: str
    type: str
    url: str
    preview_url: str
    remote_url: "str | None"
    preview_remote_url: "str | None"
    text_url: "str | None"
    meta: "dict[str, Any]"
    description: "str | None"
    blurhash: str


class MutedAccount(Entity, frozen=True, kw_only=True):
    """`limited`: Moderators show it to its followers only.
    `group`: It is an object of a service.
    `object`: Only of an object.
    `note`: HTML.
    `suspended`: Never: an account that is suspended is 404.
    `memorial`: Never.
    `moved`: Always null: accounts do not move to other sites.
    """

    limited: "bool | None" = None
    id: str
    username: str
    acct: str
    display_name: str
    locked: bool
    bot: bool
    discoverable: bool
    indexable: bool
    group: bool
    object: "ServiceObject | None" = None
    created_at: datetime
    note: str
    url: str
    uri: str
    avatar: str
    avatar_static: str
    header: str
    header_static: str
    hide_collections: bool
    noindex: bool
    emojis: "list[Any]"
    roles: "list[Any]"
    suspended: "bool | None" = None
    memorial: "bool | None" = None
    moved: "dict[str, Any] | None" = None
    fields: "list[Field]"
    followers_count: int
    following_count: int
    statuses_count: int
    last_status_at: "date | None"
    mute_expires_at: "datetime | None"


class MutualField(Entity, frozen=True, kw_only=True):
    """`since_ms`: Since when both follow."""

    account_id: str
    since_ms: int


class Mutuals(Entity, frozen=True, kw_only=True):
    """`count`: Of all, not of the page."""

    count: int
    mutuals: "list[MutualField]"


class NamedReaction(Entity, frozen=True, kw_only=True):
    """`words`: What it is called, by language."""

    name: str
    words: "dict[str, Any]"


class News(Entity, frozen=True, kw_only=True):
    """For the schema only.

    `new`: Whether the home timeline has anything newer.
    `count`: About how many accounts published something.
    `accounts`: The newest of them, at most 40; newest first.
    `as_of`: To ask from next. Reaches back by lag_s, so some may be named once more.
    `lag_s`: Who asks from as_of misses nothing that came in order within so many seconds.
    """

    new: bool
    count: int
    accounts: list[str]
    as_of: str
    lag_s: int


class Notification(Entity, frozen=True, kw_only=True):
    """`id`: Decimal digits; a later notification has a higher number.
    `status`: Absent for follows, requests and warnings.
    `moderation_warning`: Only of the type moderation_warning.
    `reaction`: Only of the type reaction, which Mastodon does not have.
    """

    id: str
    type: str
    group_key: str
    created_at: datetime
    account: "Account"
    status: "Status | None" = None
    moderation_warning: "AccountWarning | None" = None
    reaction: "NamedReaction | None" = None


class NotificationGroup(Entity, frozen=True, kw_only=True):
    """`notifications_count`: On this page.
    `moderation_warning`: Only of the type moderation_warning.
    `reaction`: Only of the type reaction, which Mastodon does not have.
    """

    group_key: str
    notifications_count: int
    type: str
    most_recent_notification_id: int
    page_min_id: str
    page_max_id: str
    latest_page_notification_at: datetime
    sample_account_ids: list[str]
    status_id: "str | None" = None
    moderation_warning: "AccountWarning | None" = None
    reaction: "NamedReaction | None" = None


class NotificationPolicy(Entity, frozen=True, kw_only=True):
    """What becomes of notifications: of accounts that I do not follow, and so on."""

    for_not_following: str
    for_not_followers: str
    for_new_accounts: str
    for_private_mentions: str
    for_limited_accounts: str
    summary: "PolicySummary"


class NotificationRequest(Entity, frozen=True, kw_only=True):
    """`id`: That of the account."""

    id: str
    created_at: datetime
    updated_at: datetime
    notifications_count: str
    account: "Account"
    last_status: "Status | None"


class Object(Entity, frozen=True, kw_only=True):
    """`suspended`: By moderators, or because it is deleted or inactive."""

    account_id: str
    kind: str
    external_id: str
    username: str
    title: str
    note: str
    url: "str | None"
    image: "str | None"
    custom: "dict[str, Any] | None"
    locked: bool
    suspended: bool


class ObjectOutcome(Entity, frozen=True, kw_only=True):
    """An object of the list, or why it was refused.

    `status`: As of a PUT of its own.
    """

    kind: str
    external_id: str
    status: int
    account_id: "str | None" = None
    username: "str | None" = None
    title: "str | None" = None
    note: "str | None" = None
    url: "str | None" = None
    image: "str | None" = None
    custom: "dict[str, Any] | None" = None
    locked: "bool | None" = None
    suspended: "bool | None" = None
    created: "bool | None" = None
    error: "str | None" = None
    details: "dict[str, Any] | None" = None


class PolicySummary(Entity, frozen=True, kw_only=True):
    """`pending_requests_count`: Accounts, among the newest notifications."""

    pending_requests_count: int
    pending_notifications_count: int


class Poll(Entity, frozen=True, kw_only=True):
    """`id`: The id of the post.
    `voted`: Absent without a token.
    `own_votes`: Places of the chosen options, from 0.
    """

    id: str
    expires_at: datetime
    expired: bool
    multiple: bool
    votes_count: int
    voters_count: int
    options: "list[PollOption]"
    emojis: "list[dict[str, Any]]"
    voted: "bool | None" = None
    own_votes: "list[int] | None" = None


class PollOption(Entity, frozen=True, kw_only=True):
    """`votes_count`: null while the poll is open and hides its totals."""

    title: str
    votes_count: "int | None"


class PostType(Entity, frozen=True, kw_only=True):
    name: str
    words: "dict[str, Any]"


class Preferences(Entity, frozen=True, kw_only=True):
    posting_default_visibility: str = msgspec.field(name="posting:default:visibility")
    posting_default_sensitive: bool = msgspec.field(name="posting:default:sensitive")
    posting_default_language: "str | None" = msgspec.field(name="posting:default:language")
    posting_default_quote_policy: str = msgspec.field(name="posting:default:quote_policy")
    reading_expand_media: str = msgspec.field(name="reading:expand:media")
    reading_expand_spoilers: bool = msgspec.field(name="reading:expand:spoilers")
    reading_autoplay_gifs: bool = msgspec.field(name="reading:autoplay:gifs")
    reading_home_replies: str = msgspec.field(name="reading:home:replies")


class PromotedAd(Entity, frozen=True, kw_only=True):
    title: str
    text: str
    url: str


class Promotion(Entity, frozen=True, kw_only=True):
    """`id`: Of the campaign, as `campaign` of an item of the home timeline.
    `placed_by`: The name of this site, whose operators placed it.
    `paid_by`: Who pays for it; null: the site says nothing.
    `audience`: share: some people, chosen by chance. What a person reads, writes or follows
      plays no part.
    `audience_percent`: How large the share is.
    `most_a_day`: How often a person sees it in a day (UTC).
    `account_id`: The promoted account, or the author of the promoted post: after a mute or
      a block of it the promotion is not shown. null for an ad.
    """

    id: str
    type: str
    placed_by: str
    paid_by: "str | None"
    audience: str
    audience_percent: int
    most_a_day: int
    starts_at: datetime
    ends_at: datetime
    account_id: "str | None"


class ProvisionedAccount(Entity, frozen=True, kw_only=True):
    """`suspended`: By moderators, or because it is deleted or inactive.
    `created`: By this request.
    """

    external_id: str
    account_id: str
    username: str
    suspended: bool
    created: bool


class ProvisionedObject(Entity, frozen=True, kw_only=True):
    """`suspended`: By moderators, or because it is deleted or inactive.
    `created`: By this request.
    """

    account_id: str
    kind: str
    external_id: str
    username: str
    title: str
    note: str
    url: "str | None"
    image: "str | None"
    custom: "dict[str, Any] | None"
    locked: bool
    suspended: bool
    created: bool


class ProvisioningOutcome(Entity, frozen=True, kw_only=True):
    """An account of the list, or why it was refused.

    `status`: As of a PUT of its own.
    """

    external_id: str
    status: int
    account_id: "str | None" = None
    username: "str | None" = None
    suspended: "bool | None" = None
    created: "bool | None" = None
    error: "str | None" = None
    details: "dict[str, Any] | None" = None


class Quote(Entity, frozen=True, kw_only=True):
    """`quoted_status`: The whole quoted post; null unless accepted.
    `quoted_status_id`: Instead of it, in a post that is quoted itself.
    """

    state: str
    quoted_status: "dict[str, Any] | None" = None
    quoted_status_id: "str | None" = None


class QuoteApproval(Entity, frozen=True, kw_only=True):
    """`manual`: Always empty."""

    manual: list[str]
    current_user: str
    automatic: list[str]


class Reaction(Entity, frozen=True, kw_only=True):
    """`name`: As a service declared it.
    `me`: Whether the caller reacted so.
    """

    name: str
    count: int
    me: bool


class Relation(Entity, frozen=True, kw_only=True):
    """What `account_id` does to `target_id`.

    `requested`: A follow that awaits approval.
    `since_ms`: When that began or ended.
    """

    account_id: str
    target_id: str
    following: bool
    requested: bool
    blocking: bool
    since_ms: "int | None"


class RelationCounts(Entity, frozen=True, kw_only=True):
    """`followers_count`: With quiet followers.
    `following_count`: With quiet follows.
    `blocked_count`: null if the token has no scope read:blocks.
    """

    followers_count: int
    quiet_followers_count: int
    following_count: int
    quiet_following_count: int
    blocked_count: "int | None"


class Relationship(Entity, frozen=True, kw_only=True):
    """`languages`: null: posts of all languages are shown."""

    id: str
    following: bool
    showing_reblogs: bool
    notifying: bool
    languages: "list[str] | None"
    followed_by: bool
    blocking: bool
    blocked_by: bool
    muting: bool
    muting_notifications: bool
    muting_expires_at: "datetime | None"
    requested: bool
    requested_by: bool
    domain_blocking: bool
    endorsed: bool
    note: str
    quiet_following: bool
    special: bool
    mutual: bool


class ReplyApproval(Entity, frozen=True, kw_only=True):
    """`manual`: Always empty."""

    manual: list[str]
    current_user: str
    automatic: list[str]


class Report(Entity, frozen=True, kw_only=True):
    id: str
    action_taken: bool
    action_taken_at: "datetime | None"
    category: str
    comment: str
    forwarded: bool
    created_at: datetime
    status_ids: "list[str] | None"
    rule_ids: "list[str] | None"
    target_account: "Account"


class Role(Entity, frozen=True, kw_only=True):
    id: str
    name: str
    color: str
    permissions: str
    highlighted: bool


class ScheduledParams(Entity, frozen=True, kw_only=True):
    """`scheduled_at`: Always null.
    `idempotency`: The Idempotency-Key of the request.
    `with_rate_limit`: Always false.
    """

    text: str
    poll: "dict[str, Any] | None"
    media_ids: "list[str] | None"
    sensitive: bool
    spoiler_text: "str | None"
    visibility: str
    in_reply_to_id: "str | None"
    language: "str | None"
    quoted_status_id: "str | None"
    quote_approval_policy: str
    reply_approval_policy: str
    type: str
    custom: "dict[str, Any] | None"
    application_id: "int | None"
    scheduled_at: "datetime | None"
    idempotency: "str | None"
    with_rate_limit: bool


class ScheduledStatus(Entity, frozen=True, kw_only=True):
    """`error`: Why it could not be published. It waits until I change its time, or cancel it."""

    id: str
    scheduled_at: datetime
    params: "ScheduledParams"
    media_attachments: "list[dict[str, Any]]"
    error: "str | None"


class Search(Entity, frozen=True, kw_only=True):
    accounts: "list[Account]"
    statuses: "list[Status]"
    hashtags: "list[Tag]"


class ServiceObject(Entity, frozen=True, kw_only=True):
    """`kind`: Such as recipe.
    `external_id`: The service's own id.
    `custom`: The service's own data.
    """

    kind: str
    external_id: str
    url: "str | None"
    image: "str | None"
    custom: "dict[str, Any] | None" = None


class Source(Entity, frozen=True, kw_only=True):
    """`note`: As it was typed."""

    privacy: str
    sensitive: bool
    language: "str | None"
    quote_policy: str
    home_replies: str
    note: str
    fields: "list[Field]"
    follow_requests_count: int
    attribution_domains: "list[Any]"
    hide_collections: bool
    discoverable: bool
    indexable: bool


class Status(Entity, frozen=True, kw_only=True):
    """`id`: Decimal digits; a later post has a higher number.
    `conversation_id`: The id of the first post of the thread.
    `content`: HTML.
    `reblog`: The whole original post; null unless this is a repost.
    `application`: The client that published the post.
    `type`: Absent: `status`.
    `custom`: What the product added. Absent: nothing.
    `quotes_count`: Of public and unlisted posts.
    `reactions`: Besides favourites. Absent: the post has none.
    `muted`: Whether the caller muted the thread of the post.
    `pinned`: Whether the caller wrote and pinned the post.
    """

    id: str
    created_at: datetime
    conversation_id: str
    in_reply_to_id: "str | None"
    in_reply_to_account_id: "str | None"
    sensitive: bool
    spoiler_text: str
    visibility: str
    language: "str | None"
    uri: str
    url: str
    content: str
    reblog: "Status | None"
    application: "dict[str, Any] | None"
    media_attachments: "list[dict[str, Any]]"
    mentions: "list[dict[str, Any]]"
    tags: "list[dict[str, Any]]"
    emojis: "list[dict[str, Any]]"
    card: "dict[str, Any] | None"
    poll: "Poll | None"
    edited_at: "datetime | None"
    quote: "Quote | None"
    quote_approval: "QuoteApproval"
    reply_approval: "ReplyApproval"
    type: "str | None" = None
    custom: "dict[str, Any] | None" = None
    filtered: "list[FilterResult]"
    account: "Account"
    replies_count: int
    reblogs_count: int
    favourites_count: int
    quotes_count: int
    reactions: "list[Reaction] | None" = None
    favourited: bool
    reblogged: bool
    muted: bool
    bookmarked: bool
    pinned: bool


class Suggestion(Entity, frozen=True, kw_only=True):
    """`source`: As Mastodon before 4.3 names the reason.
    `sources`: Why the account is suggested.
    """

    source: str
    sources: list[str]
    account: "Account"


class Tag(Entity, frozen=True, kw_only=True):
    """`history`: The last seven days, today first.
    `following`: Absent without a token.
    `featuring`: Absent without a token.
    """

    id: str
    name: str
    url: str
    history: "list[TagDay]"
    following: "bool | None" = None
    featuring: "bool | None" = None


class TagDay(Entity, frozen=True, kw_only=True):
    """`day`: Midnight UTC, in Unix seconds.
    `uses`: Posts of the day. Counts the newest 1,000 posts of the seven days.
    `accounts`: Accounts that used the tag on the day, among these posts.
    """

    day: str
    uses: str
    accounts: str


class TranslatedMedia(Entity, frozen=True, kw_only=True):
    id: str
    description: str


class TranslatedOption(Entity, frozen=True, kw_only=True):
    title: str


class TranslatedPoll(Entity, frozen=True, kw_only=True):
    id: str
    options: "list[TranslatedOption]"


class Translation(Entity, frozen=True, kw_only=True):
    """`content`: HTML."""

    content: str
    spoiler_text: str
    language: str
    poll: "TranslatedPoll | None"
    media_attachments: "list[TranslatedMedia]"
    detected_source_language: str
    provider: str


class TypedText(Entity, frozen=True, kw_only=True):
    """`text`: The text as its author typed it."""

    id: str
    text: str
    spoiler_text: str


class UnreadGroups(Entity, frozen=True, kw_only=True):
    """`conversations`: Only if they were asked for."""

    count: int
    conversations: "int | None" = None


class Version(Entity, frozen=True, kw_only=True):
    """`content`: HTML.
    `created_at`: When the author wrote this version.
    `poll`: `options`, each with its `title`.
    """

    content: str
    spoiler_text: str
    sensitive: bool
    created_at: datetime
    account: "Account"
    poll: "dict[str, Any] | None" = None
    media_attachments: "list[dict[str, Any]]"
    emojis: "list[dict[str, Any]]"


class EditedImage(TypedDict, total=False):
    """`description`: For people who cannot see it.
    `focus`: The point that previews keep: x,y from -1 to 1.
    """

    description: str
    focus: str
    id: Required[str]


class EditedPoll(TypedDict, total=False):
    """Other options, or another `multiple`, reset the votes.

    `expires_in`: Seconds from now. Without it a poll keeps its end; a new poll needs it.
    """

    options: Required["Sequence[str]"]
    expires_in: int
    multiple: bool
    hide_totals: bool


class NewField(TypedDict, total=False):
    name: Required[str]
    value: str


class NewHomeMarker(TypedDict, total=False):
    """`version`: The version after this write. 409 unless it is above the marker's version.
      Repeating a write is no conflict. Default: the next version, without a check.
    `forward_only`: A marker that is further already stays. By default it may go back.
    `last_read_id`: The status may be deleted.
    """

    version: int | str
    forward_only: bool
    last_read_id: Required[str | int]


class NewKeyword(TypedDict, total=False):
    """`whole_word`: True if not sent."""

    keyword: Required[str]
    whole_word: bool


class NewNotificationMarker(TypedDict, total=False):
    """`version`: The version after this write. 409 unless it is above the marker's version.
      Repeating a write is no conflict. Default: the next version, without a check.
    `forward_only`: A marker that is further already stays. By default it may go back.
    """

    version: int | str
    forward_only: bool
    last_read_id: Required[str | int]


class NewPoll(TypedDict, total=False):
    """`expires_in`: Seconds."""

    options: Required["Sequence[str]"]
    expires_in: Required[int]
    multiple: bool
    hide_totals: bool


class PairField(TypedDict, total=False):
    account_id: Required[str]
    target_id: Required[str]


class SourceEdit(TypedDict, total=False):
    """`home_replies`: Whose replies by followees my home timeline shows."""

    privacy: "Literal['public', 'unlisted', 'private']"
    sensitive: bool
    language: str
    quote_policy: "Literal['public', 'followers', 'nobody']"
    home_replies: "Literal['followed', 'all', 'none']"


class WantedAccountField(TypedDict, total=False):
    """`username`: A new account needs it.
    `active`: False, without other fields: no account sees it and it cannot sign in, until
      it is true. 404 if it was never created.
    """

    username: str
    display_name: str
    note: str
    locked: bool
    bot: bool
    discoverable: bool
    indexable: bool
    hide_collections: bool
    active: bool
    external_id: Required[str]


class WantedObjectField(TypedDict, total=False):
    """`title`: A new object needs it.
    `username`: By which posts mention it; absent: one is made.
    `custom`: Your own data: at most 4 kB.
    `locked`: It approves its followers, and only they post.
    `active`: False, without other fields: no account sees it, until it is true.
    """

    title: str
    username: str
    note: str
    url: str
    image: str
    custom: "Mapping[str, Any]"
    locked: bool
    active: bool
    kind: Required[str]
    external_id: Required[str]
