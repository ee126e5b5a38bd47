"""What the apps share: changes, caching, sharding, jobs, api. Nothing else lives here."""
