"""What the client calls operations whose path does not say it: `group.method`, HTTP method, path.

An operation that is not here is named by its path (`lab.client.naming`). A method that is not GET
or PUT and may be repeated without another effect has a `*`: the client tries it again. A POST with
`?` only reads. An operation that the client does not have is in LEFT_OUT with the reason.
"""

NAMES = """
accounts.me                     GET     /api/v1/accounts/verify_credentials
accounts.update_me              PATCH*  /api/v1/accounts/update_credentials
accounts.by_ids                 GET     /api/v1/accounts
accounts.directory              GET     /api/v1/directory
accounts.followed_by            POST?   /api/v1/accounts/followed_by
accounts.follow                 POST*   /api/v1/accounts/{account_id}/follow
accounts.unfollow               POST*   /api/v1/accounts/{account_id}/unfollow
accounts.remove_follower        POST*   /api/v1/accounts/{account_id}/remove_from_followers
accounts.block                  POST*   /api/v1/accounts/{account_id}/block
accounts.unblock                POST*   /api/v1/accounts/{account_id}/unblock
accounts.blocked                GET     /api/v1/blocks
accounts.mute                   POST*   /api/v1/accounts/{account_id}/mute
accounts.unmute                 POST*   /api/v1/accounts/{account_id}/unmute
accounts.muted                  GET     /api/v1/mutes
accounts.note                   POST*   /api/v1/accounts/{account_id}/note
accounts.endorse                POST*   /api/v1/accounts/{account_id}/endorse
accounts.unendorse              POST*   /api/v1/accounts/{account_id}/unendorse
accounts.endorsed               GET     /api/v1/endorsements
accounts.in_lists               GET     /api/v1/accounts/{account_id}/lists
accounts.delete_avatar          DELETE* /api/v1/profile/avatar
accounts.delete_header          DELETE* /api/v1/profile/header
accounts.preferences            GET     /api/v1/preferences
accounts.suggestions            GET     /api/v2/suggestions
accounts.dismiss_suggestion     DELETE* /api/v1/suggestions/{account_id}

follow_requests.pending         GET     /api/v1/follow_requests

statuses.create                 POST    /api/v1/statuses
statuses.by_ids                 GET     /api/v1/statuses
statuses.edit                   PUT     /api/v1/statuses/{status_id}
statuses.translate              POST*   /api/v1/statuses/{status_id}/translate
statuses.favourite              POST*   /api/v1/statuses/{status_id}/favourite
statuses.unfavourite            POST*   /api/v1/statuses/{status_id}/unfavourite
statuses.favourites             GET     /api/v1/favourites
statuses.react                  POST*   /api/v1/statuses/{status_id}/react/{reaction}
statuses.unreact                POST*   /api/v1/statuses/{status_id}/unreact/{reaction}
statuses.reacted_by             GET     /api/v1/statuses/{status_id}/reacted_by/{reaction}
statuses.reblog                 POST*   /api/v1/statuses/{status_id}/reblog
statuses.unreblog               POST*   /api/v1/statuses/{status_id}/unreblog
statuses.bookmark               POST*   /api/v1/statuses/{status_id}/bookmark
statuses.unbookmark             POST*   /api/v1/statuses/{status_id}/unbookmark
statuses.bookmarks              GET     /api/v1/bookmarks
statuses.pin                    POST*   /api/v1/statuses/{status_id}/pin
statuses.unpin                  POST*   /api/v1/statuses/{status_id}/unpin
statuses.mute_thread            POST*   /api/v1/statuses/{status_id}/mute
statuses.unmute_thread          POST*   /api/v1/statuses/{status_id}/unmute
statuses.revoke_quote           POST    /api/v1/statuses/{status_id}/quotes/{quoting_id}/revoke
statuses.set_policies           PUT     /api/v1/statuses/{status_id}/interaction_policy

scheduled_statuses.create       POST    /api/v1/statuses
scheduled_statuses.move         PUT     /api/v1/scheduled_statuses/{scheduled_id}

media.upload                    POST    /api/v2/media

polls.vote                      POST    /api/v1/polls/{poll_id}/votes

timelines.of_list               GET     /api/v1/timelines/list/{list_id}
timelines.catch_up              GET     /api/v1/timelines/home/catch_up
timelines.end_catch_up          POST*   /api/v1/timelines/home/catch_up
timelines.news                  GET     /api/v1/timelines/home/news

markers.get                     GET     /api/v1/markers
markers.move                    POST*   /api/v1/markers

lists.add_accounts              POST*   /api/v1/lists/{list_id}/accounts
lists.remove_accounts           DELETE* /api/v1/lists/{list_id}/accounts

conversations.read              POST*   /api/v1/conversations/{conversation_id}/read

notifications.grouped           GET     /api/v2/notifications
notifications.group             GET     /api/v2/notifications/{group_key}
notifications.accounts_of_group GET     /api/v2/notifications/{group_key}/accounts
notifications.dismiss           POST*   /api/v1/notifications/{notification_id}/dismiss
notifications.dismiss_group     POST*   /api/v2/notifications/{group_key}/dismiss
notifications.clear             POST*   /api/v1/notifications/clear
notifications.update_policy     PATCH*  /api/v2/notifications/policy
notifications.request           GET     /api/v1/notifications/requests/{account_id}
notifications.accept_requests   POST*   /api/v1/notifications/requests/accept
notifications.dismiss_requests  POST*   /api/v1/notifications/requests/dismiss

filters.get                     GET     /api/v2/filters/{filter_id}
filters.update                  PUT     /api/v2/filters/{filter_id}
filters.delete                  DELETE  /api/v2/filters/{filter_id}

tags.follow                     POST*   /api/v1/tags/{name}/follow
tags.unfollow                   POST*   /api/v1/tags/{name}/unfollow
tags.followed                   GET     /api/v1/followed_tags
tags.followed_settings          GET     /api/v1/followed_tags/settings
tags.change_followed_settings   PUT     /api/v1/followed_tags/settings
tags.feature                    POST*   /api/v1/tags/{name}/feature
tags.unfeature                  POST*   /api/v1/tags/{name}/unfeature
tags.featured                   GET     /api/v1/featured_tags

promotions.why                  GET     /api/v1/promotions/{campaign_id}
promotions.hide                 POST*   /api/v1/promotions/{campaign_id}/hide

trends.tags                     GET     /api/v1/trends/tags
trends.statuses                 GET     /api/v1/trends/statuses

search.find                     GET     /api/v2/search

site.get                        GET     /api/v2/instance
site.reactions                  GET     /api/v1/instance/reactions

provisioning.put                PUT     /api/v1/services/accounts/{external_id}
provisioning.put_many           PUT     /api/v1/services/accounts
provisioning.get                GET     /api/v1/services/accounts/{external_id}
provisioning.delete             DELETE* /api/v1/services/accounts/{external_id}
provisioning.find               POST?   /api/v1/services/external_ids

objects.put                     PUT     /api/v1/services/objects/{kind}/{external_id}
objects.put_many                PUT     /api/v1/services/objects
objects.get                     GET     /api/v1/services/objects/{kind}/{external_id}
objects.delete                  DELETE* /api/v1/services/objects/{kind}/{external_id}
objects.declare_kind            PUT     /api/v1/services/object_kinds/{kind}
objects.kinds                   GET     /api/v1/services/object_kinds

relations.of_pairs              POST?   /api/v1/services/relations
relations.mutuals               GET     /api/v1/services/mutuals/{account_id}

post_types.declare              PUT     /api/v1/services/post_types/{type_name}
post_types.remove               DELETE* /api/v1/services/post_types/{type_name}
post_types.declared             GET     /api/v1/services/post_types

reactions.declare               PUT     /api/v1/services/reactions/{reaction_name}
reactions.declared              GET     /api/v1/services/reactions

events.read                     GET     /api/v1/services/events
"""

# Beginnings of "METHOD path".
LEFT_OUT = {
    "GET /.well-known/": "read by other servers and by clients that people install",
    "GET /nodeinfo/": "read by other servers",
    "POST /api/v1/apps": "a service is made by the operator",
    "GET /api/v1/apps/": "a service is made by the operator",
    "POST /api/v1/accounts": "a product provisions its people; they do not sign up",
    "GET /api/v1/push/": "needs a token of the person",
    "POST /api/v1/push/": "needs a token of the person",
    "PUT /api/v1/push/": "needs a token of the person",
    "DELETE /api/v1/push/": "needs a token of the person",
    "GET /api/v1/strikes": "appeals need the person, on the pages or in an app",
    "POST /api/v1/strikes": "appeals need the person, on the pages or in an app",
    "GET /api/v1/announcements": "always empty",
    "GET /api/v1/custom_emojis": "always empty",
    "GET /api/v1/domain_blocks": "always empty",
    "POST /api/v1/domain_blocks": "always refused",
    "DELETE /api/v1/domain_blocks": "does nothing",
    "POST /api/v1/emails/confirmations": "always refused",
    "GET /api/v1/profile": "`accounts.me` answers it too",
    "PATCH /api/v1/profile": "`accounts.update_me` changes the same",
    "GET /api/v1/trends": "the older form of `trends.tags`, and links: always empty",
    "GET /api/v1/instance": "the older form of /api/v2/instance, and its parts",
    "GET /api/v1/filters": "the older form of /api/v2/filters",
    "POST /api/v1/filters": "the older form of /api/v2/filters",
    "PUT /api/v1/filters": "the older form of /api/v2/filters",
    "DELETE /api/v1/filters": "the older form of /api/v2/filters",
    "GET /api/v2/filters/": "parts of a filter: `filters.update` changes them together",
    "POST /api/v2/filters/": "parts of a filter: `filters.update` changes them together",
    "PUT /api/v2/filters/": "parts of a filter: `filters.update` changes them together",
    "DELETE /api/v2/filters/": "parts of a filter: `filters.update` changes them together",
    "GET /api/v1/suggestions": "the older form of /api/v2/suggestions",
    "GET /api/v1/notifications/policy": "the older form of /api/v2/notifications/policy",
    "PATCH /api/v1/notifications/policy": "the older form of /api/v2/notifications/policy",
    "GET /api/v1/notifications/unread_count": "the older form, which counts no groups",
    "GET /api/v1/notifications/requests/merged": "always the same",
    "POST /api/v1/notifications/requests/{account_id}/": "the form for several does it",
    "POST /api/v1/media": "the older form of POST /api/v2/media",
    "POST /api/v1/featured_tags": "`tags.feature` does it",
    "DELETE /api/v1/featured_tags": "`tags.unfeature` does it",
    "GET /api/v1/featured_tags/suggestions": "for pages that people edit their profiles on",
}

# Parameters and fields that the client does not have.
LEFT_OUT_PARAMETERS = {
    "If-None-Match": "an answer that is the same costs little more",
    "all_promotions": "promoted accounts and ads have another shape than a status",
}

# Operations that are two methods, because a field decides what is answered: that field, whether
# this method sends it, and its answer.
DECIDED_BY_FIELD = {
    "statuses.create": ("scheduled_at", False, "Status"),
    "scheduled_statuses.create": ("scheduled_at", True, "ScheduledStatus"),
}

# Arrays inside of an answer that the Link header pages through.
PAGED_FIELDS = {"relations.mutuals": "mutuals"}

# Parameters without which a call asks for nothing, although it is no error.
ALWAYS_GIVEN = {"id[]", "account_ids[]"}

# Fields that are files: the document calls them addresses, which they are in answers.
FILES = {("media.upload", "file")}

# Fields that the document describes as an object only.
KNOWN_FIELDS = {
    ("Status", "reblog"): "Status | None",
    ("HomeStatus", "reblog"): "Status | None",
    ("HomeItem", "reblog"): "Status | None",
    ("DeletedStatus", "reblog"): "Status | None",
}
