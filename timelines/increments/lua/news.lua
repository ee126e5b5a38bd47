-- Entries from a position on, and the time they are complete up to, of one moment.
-- KEYS[1]: the stream. ARGV: the position's id, how many entries at most.
-- Reply: {{seconds, microseconds}, entries}
return {redis.call('TIME'), redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])}
