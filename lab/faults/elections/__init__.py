"""A shard whose PostgreSQL servers elect the primary: Patroni decides, etcd remembers."""
