-- Brings a cached hash from one version to a later one, in place. KEYS: hash, token of a load.
-- ARGV: version before, version after, count of removals, removed fields …, then field, value …
-- A hash with another version misses a change: it is deleted and read again, unless it is newer.
-- A load in progress may have read before this change, so its token is deleted.
-- Returns 1 changed, 0 nothing to do, -1 deleted.
redis.call('DEL', KEYS[2])
local version = redis.call('HGET', KEYS[1], '!')
if not version or tonumber(version) >= tonumber(ARGV[2]) then
  return 0
end
if tonumber(version) < tonumber(ARGV[1]) then
  redis.call('DEL', KEYS[1])
  return -1
end
local added = 4 + tonumber(ARGV[3])
for i = 4, added - 1, 1000 do
  redis.call('HDEL', KEYS[1], unpack(ARGV, i, math.min(i + 999, added - 1)))
end
ARGV[#ARGV + 1], ARGV[#ARGV + 2] = '!', ARGV[2]
for i = added, #ARGV, 1000 do
  redis.call('HSET', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
return 1
