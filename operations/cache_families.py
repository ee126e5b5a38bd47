"""All families of Redis keys: caches that caches purge may empty, and the others with a reason."""

from infra.caching.purging import CacheFamily

PURGEABLE = {
    family.name: family
    for family in (
        CacheFamily("accounts.profile", "one row an account when it is next shown"),
        CacheFamily("accounts.actor", "one row an account that a service acts for next"),
        CacheFamily("counters.account", "one row an account when it is next shown"),
        CacheFamily("posts.week", "two queries an author and week when next shown"),
        CacheFamily("posts.single", "one query for the old posts of a page"),
        CacheFamily("posts.poll", "one query for the polls of a page"),
        CacheFamily("posts.poll_votes", "one query for a viewer's votes on the polls of a page"),
        CacheFamily("posts.counts", "one query for the posts of a page"),
        CacheFamily("posts.replies", "one query for each level of a thread and shard"),
        CacheFamily(
            "posts.ancestors", "one query for the posts above a reply, for each shard in turn"
        ),
        CacheFamily("posts.translation", "a request to the translator when it is next asked for"),
        CacheFamily("notifications.rows", "two queries for each page of notifications"),
        CacheFamily("posts.conversations.unread", "one query an account that reads a page"),
        CacheFamily("posts.newest", "one query an author whose page is shown"),
        CacheFamily("posts.viewer_state", "two queries a viewer"),
        CacheFamily("relations.following", "the whole list of an account, once"),
        CacheFamily("relations.quiet", "the quiet follows of an account, once"),
        CacheFamily("relations.followers", "the newest 10,000 of an account, once"),
        CacheFamily("relations.relationship", "two queries a viewer and page"),
        CacheFamily("caching.viewer", "one more round trip a viewer and process"),
        CacheFamily("timelines.public", "one query of the recent-posts index"),
        CacheFamily("timelines.home", "a rebuild (a pull) for each reader's next page"),
        CacheFamily("timelines.zset", "a rebuild (a pull) for each reader's next page"),
        CacheFamily("timelines.hot_entries", "one query a hot author"),
        CacheFamily("timelines.promotions.hidden", "one query a viewer, while a campaign runs"),
        CacheFamily("timelines.home_tags", "one query a viewer"),
        CacheFamily("timelines.tag_entries", "one query for a page's home tags on each shard"),
        CacheFamily("timelines.recent", "one query for the authors of a pull on each shard"),
        CacheFamily("timelines.markers", "one query by key for each account"),
    )
}
# caches purge refuses these and prints the reason.
NOT_CACHES = {
    "accounts.token": "ended tokens would be accepted again; entries expire within ten minutes",
    "caching.hot": "counts of reads; they expire within seconds",
    "changes.drainers": "which drainers run; written again every three seconds",
    "changes.done": "what requests have done of changes; the drain would do it again",
    "changes.own_acts": "acts that are not delivered; their accounts would not see them until then",
    "changes.wake_up": "wake-ups of drainers; one element for each group of lanes",
    "changes.lag": "reports of the compensator; they expire after a minute",
    "counters.hot": "how often counts are written; these keys expire within seconds",
    "counters.drift": "results of samples; they are written again every ten seconds",
    "caching.quota": "used quotas; all callers would start from zero",
    "moderation.queue": "lengths of the moderators' queue; written again every half minute",
    "moderation.decisions": "counts of decisions; without them all rows are counted again",
    "operations.samples": "the last hour of samples, for charts; the charts would start empty",
    "processes.reports": "what processes have in common; written again every five seconds",
    "timelines.catch_up": "orders of catch-ups; later pages would have another order",
    "timelines.builds": "load tokens of builds; others would build the same timeline at once",
    "timelines.holes": "results of samples; they are written again every ten seconds",
    "timelines.hot": "the set of hot authors with its validator",
    "timelines.increments": "the stream that feeds the last-post indexes",
    "timelines.public_before": "since when posts are on the public timeline",
    "timelines.polls": "what polling clients were served; they would get late posts once more",
    "timelines.search": "what searches found; these entries expire within seconds",
    "timelines.trends": "what trends; it is computed again every five minutes",
    "timelines.touched": "which readers read lately; the cold store needs it",
    "timelines.warmings": "load tokens of copies from rows; others would copy the same at once",
    "timelines.repair_requested": "readers whose repair was requested within the last minute",
    "timelines.promotions.day": "which promotions readers saw today; daily caps would start again",
    "timelines.promotions.session": "distances between promotions; promotions would move",
    "timelines.repairs": "the queue of timelines to repair",
}
