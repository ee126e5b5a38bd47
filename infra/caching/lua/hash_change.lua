-- Brings a cached hash from one version to a later one, in place. KEYS: hash.
-- ARGV: version before, version after, ttl of a tombstone in ms,
--       count of removals, removed fields …, then field, value …
-- A hash with another version misses a change: it is deleted and read again, unless it is newer.
-- Without a hash, a tombstone `~` keeps the version for a while, so that a slow loader that read
-- before this change cannot write its value. Returns 1 changed, 0 nothing to do, -1 deleted.
local versions = redis.call('HMGET', KEYS[1], '!', '~')
local at = tonumber(versions[1] or versions[2] or -1)
if at >= tonumber(ARGV[2]) then
  return 0
end
if not versions[1] or at < tonumber(ARGV[1]) then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], '~', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return versions[1] and -1 or 0
end
local added = 5 + tonumber(ARGV[4])
for i = 5, added - 1, 1000 do
  redis.call('HDEL', KEYS[1], unpack(ARGV, i, math.min(i + 999, added - 1)))
end
for i = added, #ARGV, 1000 do
  redis.call('HSET', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('HSET', KEYS[1], '!', ARGV[2])
return 1
