"""Django's PostgreSQL backend with a limit on every wait, and a breaker for each database."""
