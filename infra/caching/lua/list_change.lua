-- Brings a cached list from one version to a later one, in place. KEYS: sorted set.
-- ARGV: version before, version after, most members kept, ttl of a tombstone in ms,
--       count of removals, removed members …, then score, member …
-- A list with another version misses a change: it is deleted and read again, unless it is newer.
-- Without a list, a `tombstone` keeps the version for a while, so that a slow loader that read
-- before this change cannot write its list. Returns 1 changed, 0 nothing to do, -1 deleted.
local function bury()
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], -tonumber(ARGV[2]) - 1, 'tombstone')
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
local marker = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(0', 'WITHSCORES')
local at = marker[2] and -tonumber(marker[2]) - 1 or -1
if at >= tonumber(ARGV[2]) then
  return 0
end
if not marker[2] or marker[1] == 'tombstone' then
  bury()
  return 0
end
if at < tonumber(ARGV[1]) then
  bury()
  return -1
end
local added = 6 + tonumber(ARGV[5])
for i = 6, added - 1, 1000 do
  redis.call('ZREM', KEYS[1], unpack(ARGV, i, math.min(i + 999, added - 1)))
end
if marker[1] == 'newest' then
  -- A cut list has no members below its oldest one, so an added member that belongs there stays
  -- out. Rank 0 is the marker, rank 1 the oldest member.
  for i = added, #ARGV, 2 do
    redis.call('ZREM', KEYS[1], ARGV[i + 1])
  end
  if redis.call('ZCARD', KEYS[1]) == 1 then
    bury()
    return -1
  end
  for i = added, #ARGV, 2 do
    redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i + 1])
    if redis.call('ZRANK', KEYS[1], ARGV[i + 1]) == 1 then
      redis.call('ZREM', KEYS[1], ARGV[i + 1])
    end
  end
else
  for i = added, #ARGV, 1000 do
    redis.call('ZADD', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
  end
end
local excess = redis.call('ZCARD', KEYS[1]) - 1 - tonumber(ARGV[3])
if excess > 0 then
  redis.call('ZREMRANGEBYRANK', KEYS[1], 1, excess)
  redis.call('ZREM', KEYS[1], marker[1])
  marker[1] = 'newest'
end
redis.call('ZADD', KEYS[1], -tonumber(ARGV[2]) - 1, marker[1])
return 1
