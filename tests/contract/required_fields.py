"""The fields that clients may rely on, from Mastodon's documentation of entities (version 4.3).

`a[b]` is inside `a`, and `a[][b]` inside each object of a list. With a `?` the value may be null.
"""

from collections.abc import Iterator, Mapping
from typing import Any

_LIMITS = """
configuration[accounts][max_featured_tags] configuration[statuses][max_characters]
configuration[statuses][max_media_attachments] configuration[statuses][characters_reserved_per_url]
configuration[media_attachments][supported_mime_types]
configuration[media_attachments][image_size_limit]
configuration[media_attachments][image_matrix_limit]
configuration[media_attachments][video_size_limit]
configuration[media_attachments][video_frame_rate_limit]
configuration[media_attachments][video_matrix_limit] configuration[polls][max_options]
configuration[polls][max_characters_per_option] configuration[polls][min_expiration]
configuration[polls][max_expiration]
"""
REQUIRED: Mapping[str, str] = {
    "Account": """
        id username acct url? uri display_name note avatar avatar_static header header_static locked
        fields fields[][name] fields[][value] fields[][verified_at]? emojis bot group discoverable?
        indexable created_at last_status_at? statuses_count followers_count following_count
        hide_collections? roles? suspended limited memorial moved?""",
    "CredentialAccount": """
        source[attribution_domains] source[note] source[fields] source[privacy] source[sensitive]
        source[language]? source[follow_requests_count] source[hide_collections]?
        source[discoverable]? source[indexable] role""",
    "MutedAccount": "mute_expires_at?",
    "Application": "id name website? scopes redirect_uris redirect_uri vapid_key",
    "CredentialApplication": "client_id client_secret client_secret_expires_at",
    "Context": "ancestors descendants",
    "Conversation": "id unread accounts last_status?",
    "ExtendedDescription": "updated_at? content",
    "FamiliarFollowers": "id accounts",
    "FeaturedTag": "id name url statuses_count last_status_at?",
    "Filter": "id title context expires_at? filter_action",
    "FilterKeyword": "id keyword whole_word",
    "FilterStatus": "id status_id",
    "FilterResult": "filter keyword_matches? status_matches?",
    "Instance": f"""
        domain title version source_url description usage[users][active_month] thumbnail[url] icon
        languages configuration[urls][streaming] configuration[vapid][public_key]
        configuration[accounts][max_pinned_statuses] configuration[translation][enabled]
        registrations[enabled] registrations[approval_required] registrations[message]?
        registrations[url]? registrations[reason_required] registrations[min_age]?
        configuration[timelines_access][live_feeds][local]
        configuration[timelines_access][live_feeds][remote]
        configuration[timelines_access][hashtag_feeds][local]
        configuration[timelines_access][hashtag_feeds][remote]
        configuration[timelines_access][trending_link_feeds][local]
        configuration[timelines_access][trending_link_feeds][remote]
        rules[][translations] api_versions[mastodon] contact[email] contact[account]? rules
        {_LIMITS}""",
    "V1_Instance": f"""
        uri title short_description description email version urls[streaming_api] stats[user_count]
        stats[status_count] stats[domain_count] thumbnail? languages registrations
        approval_required invites_enabled contact_account? rules {_LIMITS}""",
    "Profile": """
        id display_name note fields avatar? avatar_static? avatar_description header?
        header_static? header_description locked bot hide_collections? discoverable? indexable
        show_media show_media_replies show_featured attribution_domains featured_tags""",
    "ScheduledStatus": """
        id scheduled_at media_attachments params[text] params[poll]? params[media_ids]?
        params[sensitive]? params[spoiler_text]? params[visibility] params[in_reply_to_id]?
        params[language]? params[application_id] params[scheduled_at]? params[idempotency]?
        params[with_rate_limit]""",
    "List": "id title replies_policy exclusive",
    "Marker": "last_read_id version updated_at",
    "MediaAttachment": """
        id type url? preview_url? remote_url? meta? meta[focus][x] meta[focus][y] description?
        blurhash?""",
    "Notification": "id type group_key created_at account",
    "GroupedNotifications": "accounts statuses notification_groups",
    "NotificationGroup": """
        group_key notifications_count type most_recent_notification_id sample_account_ids""",
    "NotificationPolicy": """
        for_not_following for_not_followers for_new_accounts for_private_mentions
        for_limited_accounts summary[pending_requests_count]
        summary[pending_notifications_count]""",
    "V1_NotificationPolicy": """
        filter_not_following filter_not_followers filter_new_accounts filter_private_mentions
        summary[pending_requests_count] summary[pending_notifications_count]""",
    "NotificationRequest": "id created_at updated_at account notifications_count last_status?",
    "Poll": """
        id expires_at? expired multiple votes_count voters_count? options options[][title]
        options[][votes_count]? emojis voted own_votes""",
    "Preferences": """
        posting:default:visibility posting:default:sensitive posting:default:language?
        reading:expand:media reading:expand:spoilers""",
    "Relationship": """
        id following showing_reblogs notifying languages? followed_by blocking blocked_by muting
        muting_notifications requested requested_by domain_blocking endorsed note""",
    "Report": """
        id action_taken action_taken_at? category comment forwarded created_at status_ids? rule_ids?
        target_account""",
    "Role": "id name color permissions highlighted",
    "Search": "accounts statuses hashtags",
    "Status": """
        id uri created_at account content visibility sensitive spoiler_text media_attachments
        mentions tags emojis reblogs_count favourites_count replies_count url? in_reply_to_id?
        in_reply_to_account_id? quotes_count quote? quote_approval[current_user] reblog? poll?
        card? language? edited_at? favourited reblogged muted
        bookmarked filtered application[name] application[website]? mentions[][id]
        mentions[][username] mentions[][url] mentions[][acct] tags[][name] tags[][url]""",
    "StatusEdit": """
        content spoiler_text sensitive created_at account
        media_attachments emojis""",
    "StatusSource": "id text spoiler_text",
    "Suggestion": "source sources account",
    "Tag": "id name url history history[][day] history[][uses] history[][accounts] following",
    "Token": "access_token token_type scope created_at",
    "V1_Filter": "id phrase context expires_at? irreversible whole_word",
    "WebPushSubscription": """
        id endpoint server_key standard alerts[mention] alerts[status] alerts[reblog]
        alerts[follow] alerts[follow_request] alerts[favourite] alerts[poll] alerts[update]
        alerts[admin.sign_up] alerts[admin.report]""",
}  # fmt: skip
# Entities inside of entities.
INSIDE: Mapping[str, Mapping[str, str]] = {
    "CredentialAccount": {"role": "Role"},
    "Context": {"ancestors": "Status", "descendants": "Status"},
    "Conversation": {"accounts": "Account", "last_status": "Status"},
    "FamiliarFollowers": {"accounts": "Account"},
    "Filter": {"keywords": "FilterKeyword", "statuses": "FilterStatus"},
    "FilterResult": {"filter": "Filter"},
    "Notification": {"account": "Account", "status": "Status"},
    "GroupedNotifications": {
        "accounts": "Account",
        "statuses": "Status",
        "notification_groups": "NotificationGroup",
    },
    "NotificationRequest": {"account": "Account", "last_status": "Status"},
    "Report": {"target_account": "Account"},
    "Search": {"accounts": "Account", "statuses": "Status", "hashtags": "Tag"},
    "Status": {
        "account": "Account",
        "reblog": "Status",
        "poll": "Poll",
        "media_attachments": "MediaAttachment",
        "filtered": "FilterResult",
    },
    "StatusEdit": {"account": "Account", "media_attachments": "MediaAttachment"},
    "Suggestion": {"account": "Account"},
}

_ABSENT = object()


def missing_fields(entity: str, answer: Any) -> set[str]:
    """What the answer, one such entity or a list of them, lacks, also in the entities inside."""
    if isinstance(answer, list):
        return {name for one in answer for name in missing_fields(entity, one)}
    missing = {f"{entity}: {f}" for f in REQUIRED[entity].split() if _is_missing(f, answer)}
    for name, inner in INSIDE.get(entity, {}).items():
        if answer.get(name) is not None:
            missing |= missing_fields(inner, answer[name])
    return missing


def _is_missing(field: str, answer: Any) -> bool:
    first, *rest = field.removesuffix("?").replace("]", "").split("[")
    return any(
        value is _ABSENT or (value is None and not field.endswith("?"))
        for value in _values(answer, [first, *rest])
    )


def _values(value: Any, path: list[str]) -> Iterator[Any]:
    """What is at this path: each value of a list. Of null nothing, if its inner parts are asked."""
    if not path:
        yield value
        return
    name, *rest = path
    if name == "":
        for one in value:
            yield from _values(one, rest)
    elif value is None:
        return
    else:
        yield from _values(value[name], rest) if name in value else [_ABSENT]
