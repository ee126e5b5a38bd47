"""Every family of Redis keys: which are caches that may be purged, and what the others are."""

from infra.caching.purging import CacheFamily, PurgeMethod

PURGEABLE = {
    family.name: family
    for family in (
        CacheFamily(
            "accounts.profile", PurgeMethod.EXPIRE, "one row an account when it is next shown"
        ),
        CacheFamily(
            "counters.account", PurgeMethod.EXPIRE, "one row an account when it is next shown"
        ),
        CacheFamily(
            "posts.week", PurgeMethod.EXPIRE, "two queries an author and week when next shown"
        ),
        CacheFamily("posts.counts", PurgeMethod.EXPIRE, "one query for the posts of a page"),
        CacheFamily("posts.viewer_state", PurgeMethod.EXPIRE, "two queries a viewer"),
        CacheFamily(
            "relations.following", PurgeMethod.EXPIRE, "the whole list of an account, once"
        ),
        CacheFamily("relations.quiet", PurgeMethod.EXPIRE, "the quiet follows of an account, once"),
        CacheFamily(
            "relations.followers",
            PurgeMethod.EXPIRE,
            "the newest FOLLOWERS_CACHED of an account, once",
        ),
        CacheFamily("relations.relationship", PurgeMethod.EXPIRE, "two queries a viewer and page"),
        CacheFamily("timelines.public", PurgeMethod.EXPIRE, "one query of the recent-posts index"),
        CacheFamily(
            "timelines.home", PurgeMethod.DELETE, "a rebuild (a pull) for each reader's next page"
        ),
        CacheFamily(
            "timelines.zset", PurgeMethod.DELETE, "a rebuild (a pull) for each reader's next page"
        ),
        CacheFamily("timelines.hot_entries", PurgeMethod.DELETE, "one query a hot author"),
    )
}
# Refused, with the reason.
NOT_CACHES = {
    "accounts.restricted": "the validator of the copies of hot profiles",
    "accounts.token": "ended tokens would be accepted again; entries expire within ten minutes",
    "caching.invalidations": "a channel, not keys",
    "caching.hot": "counts of a few seconds",
    "changes.wake_up": "flags of half a minute",
    "changes.lag": "what the compensator saw, for a minute",
    "counters.drift": "what samples found; it is written again every ten seconds",
    "caching.quota": "what callers have used; they would begin anew",
    "moderation.queue": "what waits for moderators; it is written again every half minute",
    "moderation.decisions": "how often moderators acted; lost, all rows of it are counted anew",
    "operations.samples": "an hour of samples, for charts; lost, it begins anew",
    "posts.invalidations": "the log that keeps deleted posts off pages",
    "timelines.holes": "what samples found; it is written again every ten seconds",
    "timelines.hot": "the set of hot authors, whose stamp pages compare",
    "timelines.increments": "the stream that feeds the last-post indexes",
    "timelines.touched": "what tells the cold store who reads",
    "timelines.repair_requested": "who was filed for a mend this minute",
    "timelines.promotions.day": "which promotions readers saw today; daily caps would start again",
    "timelines.promotions.session": "distances between promotions; promotions would move",
    "timelines.repairs": "the queue of timelines to mend",
}
