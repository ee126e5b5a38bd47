"""Figures that are the same in every installation, read as settings so that a test can change one.

Each was a setting that no site changed, or that follows from another one. `REMOVED_SETTINGS` are
the variables that have no effect any more; a process names at its start those that are set.
"""

# -- how long an answer of a store may take -----------------------------------------------------
# Of an SQL statement: at most a third of the life of a load token (infra/caching/load_tokens.py).
# A loader runs two queries, and its entry is only cached if it is written before that time is over.
# A URL of a database can say less: `?options=-c%20statement_timeout%3D5s`.
STATEMENT_TIMEOUT_MS = 20_000
# A loader may ask a replica first and then the shard; both are part of those two thirds.
REPLICA_TIMEOUT_MS = 500
# A replica that is further behind is left alone.
REPLICA_LAG_S = 5
CASSANDRA_TIMEOUT_MS = 500
# Of the store of files, during an upload; then the client gets 503.
MEDIA_STORE_MS = 5_000
# How old a copy of a hot value in process memory may be.
HOT_COPY_MS = 1_000

# -- how the work is divided --------------------------------------------------------------------
# Threads per shard for queries to several shards.
SCATTER_THREADS = 8
# Failures until a change is parked.
CHANGE_MAX_ATTEMPTS = 8
# Followers in one piece of a big fan-out.
CHUNK_FOLLOWERS = 10_000

# -- limits of one account; 429 beyond ----------------------------------------------------------
# In an hour: images, also as avatar or header, those that are refused included; right passwords.
UPLOADS_PER_ACCOUNT = 120
PASSWORDS_PER_ACCOUNT = 25
# In a day (UTC): reports that it files, and what its posts name.
REPORTS_PER_DAY = 400
MENTIONS_PER_DAY = 400
TAGS_PER_DAY = 1_000
# Of all accounts: pages of followers that are not in Redis.
DEEP_PAGES_PER_S = 100

_REMOVED = """
ALLOW_PASSWORD_GRANT APPLICATIONS_PER_ADDRESS BULK_LANES CASSANDRA_TIMEOUT_MS CHANGE_MAX_ATTEMPTS
CHUNK_FOLLOWERS DEEP_PAGES_PER_S HOT_COPY_MS MEDIA_STORE_MS MENTIONS_PER_DAY PASSWORDS_PER_ACCOUNT
PASSWORDS_PER_ADDRESS READ_DEADLINE_MS REPLICA_LAG_S REPLICA_TIMEOUT_MS REPORTS_PER_DAY
SCATTER_THREADS SHORT_PATH SIGN_UPS_PER_ADDRESS STATEMENT_TIMEOUT_MS TAGS_PER_DAY TOKENS_PER_ADDRESS
UPLOADS_PER_ACCOUNT
"""
REMOVED_SETTINGS = frozenset(_REMOVED.split())
