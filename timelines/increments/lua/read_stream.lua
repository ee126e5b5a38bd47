-- The stream's entries from a position on, and the time of the read.
-- KEYS[1]: the stream. ARGV: the id of the position, the largest number of entries.
-- Reply: {{seconds, microseconds}, entries}
return {redis.call('TIME'), redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])}
