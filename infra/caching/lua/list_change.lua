-- Brings a cached list from one version to a later one, in place. KEYS: sorted set, token of a load.
-- ARGV: version before, version after, most members kept,
--       count of removals, removed members …, then score, member …
-- A list with another version misses a change: it is deleted and read again, unless it is newer.
-- A load in progress may have read before this change, so its token is deleted.
-- Returns 1 changed, 0 nothing to do, -1 deleted.
redis.call('DEL', KEYS[2])
local marker = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(0', 'WITHSCORES')
local at = marker[2] and -tonumber(marker[2]) - 1
if not marker[2] or at >= tonumber(ARGV[2]) then
  return 0
end
if at < tonumber(ARGV[1]) then
  redis.call('DEL', KEYS[1])
  return -1
end
local added = 5 + tonumber(ARGV[4])
for i = 5, added - 1, 1000 do
  redis.call('ZREM', KEYS[1], unpack(ARGV, i, math.min(i + 999, added - 1)))
end
if marker[1] == 'newest' then
  -- A cut list has no members below its oldest one, so an added member that belongs there stays
  -- out. Rank 0 is the marker, rank 1 the oldest member.
  for i = added, #ARGV, 2 do
    redis.call('ZREM', KEYS[1], ARGV[i + 1])
  end
  if redis.call('ZCARD', KEYS[1]) == 1 then
    redis.call('DEL', KEYS[1])
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
