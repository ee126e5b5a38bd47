"""Tideline in a Django product: `INSTALLED_APPS += ["tideline_client.contrib.django"]`.

| module | is for |
|---|---|
| `outbox` | `request_sync(user)`, `request_deletion(user)`: Tideline learns it, after any failure |
| `users` | `load_users(account_ids)`: the way back from accounts to users |
| `feeds` | `load_feed(user)`, and the template tag `tideline_feed` |
| `assertions` | JWTs by which a person gets a token of Tideline |
| `webhooks` | the view that Tideline's webhooks call, and the signal `event_received` |
| `connection` | the client that all of them share |

The setting is `TIDELINE`, see `settings`.
"""
