"""Django settings. All values that differ between installations come from the environment.

A comment `#:` above a value is its row in the reference (lab/reference/settings.py).
"""

import os
import tempfile
from functools import partial
from urllib.parse import urlsplit

from redis.backoff import NoBackoff
from redis.retry import Retry

# Settings that do not depend on the environment.
from config.api_settings import *  # noqa: F403
from config.api_settings import oauth2_provider
from config.application_settings import *  # noqa: F403
from config.application_settings import BASE_DIR, LANGUAGES
from config.constants import *  # noqa: F403
from config.constants import REMOVED_SETTINGS, REPLICA_TIMEOUT_MS, STATEMENT_TIMEOUT_MS
from config.django_settings import file_stores, mail_settings, templates, theme_folders
from config.environment import CONNECTION, INSECURE_KEY, Environment, late_database
from config.tenant import LOCAL_DATABASE, LOCAL_REDIS, tenant_environment
from infra.tenant_stores import folder_of, own_variables

_env = Environment(tenant_environment(os.environ))

# -- who runs it --------------------------------------------------------------------------------
#: the [tenant](../how-to/serve-several-products.md) that this process serves; the front sets it
TENANT = _env.text("TENANT", "")
#: Django's debug pages; **refused** without `DEVELOPMENT`
DEBUG = _env.flag("DEBUG", False)
#: (`0` (`make run`: `1`)) allows things that production refuses: the built-in key, `DEBUG`, tokens
#: for a name and a password, the demo
DEVELOPMENT = _env.flag("DEVELOPMENT", False)
#: (built-in (`make run`: one of its own)) signs sessions and tags tokens; at least 50 characters;
#: the built-in one is **refused** without `DEVELOPMENT`
SECRET_KEY = _env.text("SECRET_KEY", INSECURE_KEY)
#: host names it answers to
ALLOWED_HOSTS = _env.names("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
#: the start of every link in answers; the same for all processes
PUBLIC_URL = _env.text("PUBLIC_URL", "http://localhost:8000").rstrip("/")
#: where clients and the web pages find the [streaming process](../how-to/stream.md), such as
#: `wss://feed.example.org`; without it the pages ask for news by themselves
STREAMING_URL = _env.text("STREAMING_URL", "").rstrip("/")
_env.require(
    not STREAMING_URL or STREAMING_URL.startswith(("ws://", "wss://")),
    "STREAMING_URL: needs ws:// or wss://",
)
# The same for server-sent events, which the pages use.
STREAMING_HTTP_URL = STREAMING_URL and f"http{STREAMING_URL.removeprefix('ws')}"
#: the name that clients show
INSTANCE_TITLE = _env.text("INSTANCE_TITLE", "Tideline")
#: `en` or `de`: [the language](../how-to/translate-the-pages.md) of pages and mails for people who
#: chose none, and whose browser wants none of ours
SITE_LANGUAGE = _env.text("LANGUAGE_CODE", "en")
_env.require(
    SITE_LANGUAGE in dict(LANGUAGES), f"LANGUAGE_CODE: needs one of {', '.join(dict(LANGUAGES))}"
)
#: a server of [LibreTranslate's API](https://docs.libretranslate.com), which [translates
#: posts](api.md#translations); it may be in your own network
TRANSLATION_URL = _env.text("TRANSLATION_URL", "").rstrip("/")
#: its key, if it wants one
TRANSLATION_KEY = _env.text("TRANSLATION_KEY", "")
_env.require(
    not TRANSLATION_URL or TRANSLATION_URL.startswith(("http://", "https://")),
    "TRANSLATION_URL: needs http:// or https://",
)
#: a folder with [the look of your product](../how-to/make-the-pages-look-like-your-product.md):
#: static files and templates that replace ours
THEME_DIR = _env.text("THEME_DIR", "")
_env.require(not THEME_DIR or os.path.isdir(THEME_DIR), "THEME_DIR: there is no such folder")
STATICFILES_DIRS = theme_folders(THEME_DIR, "static")
TEMPLATES = templates(theme_folders(THEME_DIR, "templates"))
# Tokens for a name and a password.
ALLOW_PASSWORD_GRANT = DEVELOPMENT
#: (on, off with `DEVELOPMENT`) pages redirect to HTTPS, secure cookies, HSTS; trusts
#: `X-Forwarded-Proto`
HTTPS = _env.flag("HTTPS", not DEVELOPMENT)
#: the admin opens only after [a second step](../how-to/protect-sign-in-with-a-second-step.md); off:
#: for those who added one
SECOND_STEP_FOR_STAFF = _env.flag("SECOND_STEP_FOR_STAFF", False)
# What apps and browsers show, and to which site they give passkeys.
OTP_TOTP_ISSUER = OTP_WEBAUTHN_RP_NAME = INSTANCE_TITLE
OTP_WEBAUTHN_RP_ID = urlsplit(PUBLIC_URL).hostname or ""
OTP_WEBAUTHN_ALLOWED_ORIGINS = ["{0.scheme}://{0.netloc}".format(urlsplit(PUBLIC_URL))]

#: `DEBUG`, `INFO`, `WARNING` or `ERROR`
LOG_LEVEL = _env.text("LOG_LEVEL", "INFO").upper()
_env.require(
    LOG_LEVEL in {"DEBUG", "INFO", "WARNING", "ERROR"},
    "LOG_LEVEL: needs DEBUG, INFO, WARNING or ERROR",
)

_env.require(
    DEVELOPMENT or SECRET_KEY != INSECURE_KEY,
    "SECRET_KEY: set one of at least 50 characters (DEVELOPMENT=1 allows the built-in one)",
)
_env.require(len(SECRET_KEY) >= 50, "SECRET_KEY: shorter than 50 characters")
_env.require(DEVELOPMENT or not DEBUG, "DEBUG: refused outside DEVELOPMENT=1")

# The OpenID Connect provider of the pages. Empty: people sign in by password only.
#: the [OpenID Connect provider](../how-to/let-your-product-sign-people-in.md#on-the-web-pages) of
#: the pages, as its configuration names itself; needs the next two
OIDC_ISSUER = _env.text("OIDC_ISSUER", "")
#: who people sign in with, on the button
OIDC_NAME = _env.text("OIDC_NAME", "your organization")
#: what this site is at the provider
OIDC_CLIENT_ID = _env.text("OIDC_CLIENT_ID", "")
#: and its secret there
OIDC_CLIENT_SECRET = _env.text("OIDC_CLIENT_SECRET", "")
#: new people choose a username and get an account
OIDC_CREATE_ACCOUNTS = _env.flag("OIDC_CREATE_ACCOUNTS", True)
_env.require(
    not OIDC_ISSUER or bool(OIDC_CLIENT_ID and OIDC_CLIENT_SECRET),
    "OIDC_ISSUER: needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET",
)

#: (`tideline-<uid>` in the folder for temporary files) files that may be lost when the machine
#: restarts ([more](../explanation/increments.md#increments)); tmpfs is fine
RUNTIME_DIR = _env.text("RUNTIME_DIR", f"{tempfile.gettempdir()}/tideline-{os.getuid()}")

#: (empty (`make run`: one of its own)) names this site to push services: 32 bytes in base64 ([how
#: to make one](../how-to/deploy.md#web-push)); empty: no Web Push
VAPID_PRIVATE_KEY = _env.key("VAPID_PRIVATE_KEY", 32)
#: where operators of push services can write to: `mailto:` or `https:`
VAPID_CONTACT = _env.text("VAPID_CONTACT", "mailto:admin@localhost")
# In development and in tests push services are on this machine, and without TLS.
PUSH_PRIVATE_ADDRESSES = DEVELOPMENT
#: (none; printed with `DEVELOPMENT`) the server that sends mails:
#: `smtp+tls://user:password@host:587`, `smtp+ssl://…:465`; `consolemail://` prints them into the
#: log of the worker. Without one, people cannot reset a password or change their address, and get
#: no mail about a decision of the moderators
MAIL_URL = _env.text("MAIL_URL", "consolemail://" if DEVELOPMENT else "")
globals().update(mail_settings(_env.mail(MAIL_URL)))
#: the sender of mails
DEFAULT_FROM_EMAIL = _env.text("MAIL_FROM", "Tideline <noreply@localhost>")
#: the bearer token that `/metrics` requires; without one, `/metrics` refuses requests through a
#: proxy
METRICS_TOKEN = _env.text("METRICS_TOKEN", "")
#: where unexpected errors are reported; needs the extra `telemetry`
#: ([more](../how-to/monitor.md#tracing))
SENTRY_DSN = _env.text("SENTRY_DSN", "")
# The exporter reads this and its other OTEL_ variables itself.
#: the OpenTelemetry collector that spans go to, over HTTP; needs the same
OTEL_EXPORTER_OTLP_ENDPOINT = _env.text("OTEL_EXPORTER_OTLP_ENDPOINT", "")

# -- databases ----------------------------------------------------------------------------------
#: (`postgresql://postgres@localhost:5432/tideline`) the default database;
#: [options](#options-of-a-database-url) may follow
_default_url = _env.text("DATABASE_URL", LOCAL_DATABASE)
#: (as above, `tideline_shard0` … `3`) the shards, separated by commas; append, never reorder; each
#: may name [several servers](../how-to/lose-a-database-server.md)
_shard_urls = _env.urls("SHARD_DATABASE_URLS", [f"{LOCAL_DATABASE}_shard{n}" for n in range(4)])
_env.require(bool(_shard_urls), "SHARD_DATABASE_URLS: at least one shard is needed")
SHARD_ALIASES = [f"shard{n}" for n in range(len(_shard_urls))]
#: (none) read replicas, one entry per shard in the same order, empty for a shard without one;
#: several of one shard are separated by `\|` ([more](../how-to/use-read-replicas.md))
_replica_urls = _env.per_shard("SHARD_REPLICA_URLS", _shard_urls)
REPLICA_ALIASES = {
    alias: [f"{alias}_replica{number}" for number in range(len(urls))]
    for alias, urls in zip(SHARD_ALIASES, _replica_urls, strict=True)
}
#: open streams of a streaming process; 503 beyond
STREAMING_CONNECTIONS = _env.number("STREAMING_CONNECTIONS", 10_000, 1, 200_000)
#: how long a web server waits for an answer of a database, and a fifth of what a GET of the API may
#: take in all; then the client gets 503
DATABASE_ANSWER_MS = _env.number("DATABASE_ANSWER_MS", 1_000, 100, 60_000)
# Of a whole GET of the API: then it begins no other wait for a database.
READ_DEADLINE_MS = min(5 * DATABASE_ANSWER_MS, 60_000)
_urls = {"DATABASE_URL": _default_url} | {
    f"SHARD_DATABASE_URLS[{n}]": url for n, url in enumerate(_shard_urls)
}
DATABASES = {
    alias: _env.primary(name, url, STATEMENT_TIMEOUT_MS)
    for alias, (name, url) in zip(["default", *SHARD_ALIASES], _urls.items(), strict=True)
}
#: the folder with the URLs of shards that were [added](../how-to/add-a-shard.md) while processes
#: ran: a file for each, with its name
SHARD_URLS_DIR = _env.text("SHARD_URLS_DIR", "")
DATABASE_OF_URL = partial(late_database, STATEMENT_TIMEOUT_MS)
DATABASES |= {
    name: _env.replica(
        f"SHARD_REPLICA_URLS[{n}][{number}]", url, CONNECTION, alias, REPLICA_TIMEOUT_MS
    )
    for n, (alias, urls) in enumerate(zip(SHARD_ALIASES, _replica_urls, strict=True))
    for number, (name, url) in enumerate(zip(REPLICA_ALIASES[alias], urls, strict=True))
}
# Web servers only. Workers, the compensator and commands keep sessions.
_pooled_urls = [
    #: the default database [behind a pool](../how-to/use-a-pooler.md), for web servers only; with a
    #: role of its own and no `options`
    _env.text("POOLED_DATABASE_URL", ""),
    #: (none) the same for the shards, in their order, empty for a shard without a pool
    *_env.pooled_urls("POOLED_SHARD_DATABASE_URLS", len(SHARD_ALIASES)),
]
POOLED_DATABASES = {
    alias: _env.pooled(f"the pooled URL of {alias}", url, DATABASES[alias])
    for alias, url in zip(["default", *SHARD_ALIASES], _pooled_urls, strict=False)
    if url
}
DATABASE_ROUTERS = ["infra.sharding.router.PlacementRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- Redis --------------------------------------------------------------------------------------
# Of a cluster any node tells all others, so one of those that are named must be up.
#: (`redis://localhost:6379/0`) Redis or Valkey: `redis://`, `rediss://` or `unix://`; of a cluster
#: several nodes, separated by commas
REDIS_URL, *REDIS_OTHER_NODES = _env.urls("REDIS_URL", []) or [LOCAL_REDIS]
#: `REDIS_URL` is a Redis Cluster ([what it costs](../how-to/set-up-redis.md))
REDIS_CLUSTER = _env.flag("REDIS_CLUSTER", False)
#: after this long without an answer Redis counts as away
REDIS_TIMEOUT_MS = _env.number("REDIS_TIMEOUT_MS", 250, 10, 60_000)
_env.require(
    all(
        url.startswith(("redis://", "rediss://", "unix://"))
        for url in (REDIS_URL, *REDIS_OTHER_NODES)
    ),
    "REDIS_URL: needs redis://, rediss:// or unix://",
)
_env.require(
    REDIS_CLUSTER or not REDIS_OTHER_NODES, "REDIS_URL: several nodes need REDIS_CLUSTER=1"
)
# A cluster has one database only.
_env.require(
    not (TENANT and REDIS_CLUSTER) or "REDIS_URL" in own_variables(TENANT, os.environ),
    f"TENANT_{TENANT.upper()}__REDIS_URL: a tenant needs a Redis of its own, not a cluster's part",
)
#: reads per second, by all processes together, that make a Redis key
#: [hot](../explanation/caching.md#hot-keys)
HOT_KEY_READS = _env.number("HOT_KEY_READS", 1_000, 20, 10_000_000)
#: what the caches in the memory of one process take together, when all of them are full
#: ([more](../explanation/memory.md#what-a-process-keeps))
PROCESS_CACHE_MB = _env.number("PROCESS_CACHE_MB", 48, 8, 16_384)
CACHES = {
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "django",
        "OPTIONS": {
            "CLIENT_CLASS": "infra.caching.django_client.BreakerClient",
            "SERIALIZER": "infra.caching.django_serializer.MissingJSONSerializer",
            "SOCKET_CONNECT_TIMEOUT": REDIS_TIMEOUT_MS / 1000,
            "SOCKET_TIMEOUT": REDIS_TIMEOUT_MS / 1000,
            # Without Redis every read is a miss, after one timeout and no retries.
            "IGNORE_EXCEPTIONS": True,
            "CONNECTION_POOL_KWARGS": {"retry": Retry(NoBackoff(), 0)},
        },
    }
}

# -- the change table ---------------------------------------------------------------------------
#: into how many lanes the owners of one database are divided, and big fan-outs into as many more
CHANGE_LANES = _env.number("CHANGE_LANES", 2, 1, 64)
BULK_LANES = CHANGE_LANES
#: how long delivered changes are kept
CHANGE_REPLAY_DAYS = _env.number("CHANGE_REPLAY_DAYS", 7, 1, 3_650)

# -- limits of the product ----------------------------------------------------------------------
#: how many one account may follow
FOLLOW_CAP = _env.number("FOLLOW_CAP", 2_000, 1, 1_000_000)
#: how many follows one account may begin in a day (UTC); 429 beyond
FOLLOWS_PER_DAY = _env.number("FOLLOWS_PER_DAY", 400, 1, 1_000_000)
#: requests one account may make in five minutes; 429 beyond
QUOTA_PER_ACCOUNT = _env.number("QUOTA_PER_ACCOUNT", 1_500, 1, 1_000_000_000)
#: the same for one API application over all its users; the admin can set it for a single one
QUOTA_PER_APPLICATION = _env.number("QUOTA_PER_APPLICATION", 300_000, 1, 1_000_000_000)
#: the same for one address without a token. A fifteenth of it are its sign-ups in an hour, a tenth
#: its registrations of applications; a sixth the passwords, right or wrong, that it may try in five
#: minutes
QUOTA_PER_ADDRESS = _env.number("QUOTA_PER_ADDRESS", 300, 1, 1_000_000_000)
SIGN_UPS_PER_ADDRESS = max(1, QUOTA_PER_ADDRESS // 15)
APPLICATIONS_PER_ADDRESS = max(1, QUOTA_PER_ADDRESS // 10)
PASSWORDS_PER_ADDRESS = max(1, QUOTA_PER_ADDRESS // 6)
# In an hour, of requests to /oauth/token.
TOKENS_PER_ADDRESS = QUOTA_PER_ADDRESS
#: usernames, with commas between, that only `accounts create` gives, next to those of staff
#: (`admin`, `support`, `moderator` and the like, also as `supp0rt` and `support_team`)
RESERVED_USERNAMES = _env.names("RESERVED_USERNAMES", [])
#: how many passwords the web processes of a machine hash at once
#: ([more](../how-to/deploy.md#overload)); 0: half of its processors, at least 1
PASSWORD_HASHES = _env.number("PASSWORD_HASHES", 0, 0, 256)
#: how many reverse proxies of yours add to `X-Forwarded-For`
TRUSTED_PROXIES = _env.number("TRUSTED_PROXIES", 0, 0, 10)
#: how long a suspended account can be restored before `accounts purge` deletes what is left of it
SUSPENSION_DAYS = _env.number("SUSPENSION_DAYS", 30, 1, 3_650)
#: length of a post with its warning
POST_MAX_CHARACTERS = _env.number("POST_MAX_CHARACTERS", 500, 1, 100_000)
#: entries of a live timeline; older pages come from the shards
TIMELINE_ENTRIES = _env.number("TIMELINE_ENTRIES", 450, 40, 10_000)
#: age of the oldest entries of a live timeline, in days; 0: any age; older pages come from the
#: shards
TIMELINE_DAYS = _env.number("TIMELINE_DAYS", 0, 0, 3_650)
#: an author with more followers is pushed in chunks, after the posts of other authors
INLINE_FOLLOWERS = _env.number("INLINE_FOLLOWERS", 5_000, 1, 100_000)
#: an author with this many followers, and more than `INLINE_FOLLOWERS`, is hot: posts are not
#: pushed, pages merge them in
HOT_FOLLOWERS = _env.number("HOT_FOLLOWERS", 100_000, 1, 1_000_000_000)
#: how long a timeline that is not read stays live and gets pushes
TIMELINE_LIVE_DAYS = _env.number("TIMELINE_LIVE_DAYS", 14, 1, 365)
#: `packed`, `zset`, `postgres` or `tiered`: where home timelines are kept: [how to
#: choose](../how-to/choose-a-timeline-store.md)
TIMELINE_STORE = _env.text("TIMELINE_STORE", "packed")
_env.require(
    TIMELINE_STORE in {"packed", "zset", "postgres", "tiered"},
    "TIMELINE_STORE: needs packed, zset, postgres or tiered",
)
#: how long rows of `postgres` and `tiered` stay, and how long `tiered` pushes to a reader who is
#: away
TIMELINE_COLD_DAYS = _env.number("TIMELINE_COLD_DAYS", 60, 7, 3_650)
_env.require(
    TIMELINE_COLD_DAYS >= TIMELINE_LIVE_DAYS, "TIMELINE_COLD_DAYS: less than TIMELINE_LIVE_DAYS"
)
# The rows of `tiered` are there instead of on the shards.
#: the [Cassandra](../how-to/use-cassandra.md) that has the rows of `TIMELINE_STORE=tiered`; needs
#: the extra `cassandra`
CASSANDRA_URL = _env.text("CASSANDRA_URL", "")
CASSANDRA = _env.cassandra(CASSANDRA_URL)
_env.require(
    not CASSANDRA_URL or TIMELINE_STORE == "tiered", "CASSANDRA_URL: needs TIMELINE_STORE=tiered"
)
#: how many days of posts the recent-posts index has
RECENT_DAYS = _env.number("RECENT_DAYS", 7, 1, 365)
#: `replicated` or `by_author`: where that index is: [how to
#: choose](../how-to/choose-a-recent-posts-index.md); `by_author` needs `TIMELINE_STORE` `packed` or
#: `zset`
RECENT_INDEX = _env.text("RECENT_INDEX", "replicated")
_env.require(
    RECENT_INDEX in {"replicated", "by_author"}, "RECENT_INDEX: needs replicated or by_author"
)
_env.require(
    RECENT_INDEX == "replicated" or TIMELINE_STORE in {"packed", "zset"},
    "RECENT_INDEX: by_author needs TIMELINE_STORE packed or zset",
)
#: how long notifications are kept; not less than `CHANGE_REPLAY_DAYS`
NOTIFICATION_DAYS = _env.number("NOTIFICATION_DAYS", 90, 1, 3_650)
_env.require(
    NOTIFICATION_DAYS >= CHANGE_REPLAY_DAYS, "NOTIFICATION_DAYS: less than CHANGE_REPLAY_DAYS"
)

# -- images -------------------------------------------------------------------------------------
#: (`.data/media`) the folder of uploaded images, shared by all processes
#: ([more](../how-to/store-images.md))
MEDIA_DIR = _env.text("MEDIA_DIR", str(BASE_DIR / ".data" / "media"))
MEDIA_DIR = folder_of(TENANT, MEDIA_DIR)
#: (`PUBLIC_URL` and `/media`) where readers get the images; the same for all processes
MEDIA_URL = _env.text("MEDIA_URL", f"{PUBLIC_URL}/media").rstrip("/") + "/"
#: size of an uploaded image
MEDIA_MAX_BYTES = _env.number("MEDIA_MAX_BYTES", 16_777_216, 100_000, 100_000_000)
#: width times height of an uploaded image; memory of a web process follows it
MEDIA_MAX_PIXELS = _env.number("MEDIA_MAX_PIXELS", 33_177_600, 250_000, 100_000_000)
#: a bucket instead of the folder; needs the extra `s3`
MEDIA_BUCKET = _env.text("MEDIA_BUCKET", "")
#: the bucket's server, if it is not AWS
MEDIA_BUCKET_ENDPOINT = _env.text("MEDIA_BUCKET_ENDPOINT", "")
#: the bucket's region
MEDIA_BUCKET_REGION = _env.text("MEDIA_BUCKET_REGION", "")
FILE_STORES = partial(
    file_stores,
    bucket=MEDIA_BUCKET,
    endpoint=MEDIA_BUCKET_ENDPOINT,
    region=MEDIA_BUCKET_REGION,
)
STORAGES = FILE_STORES(MEDIA_DIR, inside=folder_of(TENANT, ""))

# -- serving ------------------------------------------------------------------------------------
MIDDLEWARE = [
    "web.middleware.RequestMetrics",
    *(["config.tracing.RequestSpans"] if OTEL_EXPORTER_OTLP_ENDPOINT else []),
    # The API goes no further: it is stateless. All below is for pages, the admin and OAuth.
    "web.middleware.StatelessRoutes",
    "django.middleware.security.SecurityMiddleware",
    # Pages and static files. See "Sizes" in docs/explanation/pages.md for why this is safe.
    "django.middleware.gzip.GZipMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "pages.languages.PageLanguage",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "pages.sessions.BoundSessions",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "web.content_policy.ContentPolicy",
    "axes.middleware.AxesMiddleware",
]
# In development files come from the packages; elsewhere from the folder of collectstatic.
STATIC_ROOT = None if DEVELOPMENT else BASE_DIR / ".static"
WHITENOISE_USE_FINDERS = DEVELOPMENT

# -- security -----------------------------------------------------------------------------------
SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS

# Of a whole request body. POST_MAX_CHARACTERS of the largest setting fit: up to 12 bytes each.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_500_000
# Files in a form stay in memory. Only a few routes take larger ones (web/body_limits.py).
DATA_UPLOAD_MAX_NUMBER_FILES = 10
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE + MEDIA_MAX_BYTES

# -- API ----------------------------------------------------------------------------------------
OAUTH2_PROVIDER = oauth2_provider(ALLOW_PASSWORD_GRANT, PUBLIC_URL)

_env.require_packages()
_env.finish()
# For the warning of a process that starts.
WITHOUT_EFFECT = _env.given(REMOVED_SETTINGS)
# For the line that a server logs when it starts.
CHANGED_SETTINGS = _env.changed
