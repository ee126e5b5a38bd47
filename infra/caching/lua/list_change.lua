-- Brings cached lists of one owner from one version to a later one, in place.
-- KEYS: token of a load, sorted sets. ARGV: version before, version after, then for each sorted set:
--       most members kept, count of removals, count of the arguments after them,
--       removed members …, then score, member …
-- A list with another version misses a change: it is deleted and read again, unless it is newer.
-- A load in progress may have read before this change, so its token is deleted.
-- Returns of the last list: 1 changed, 0 nothing to do, -1 deleted.
local function change(list, most, first, added, last)
  local marker = redis.call('ZRANGEBYSCORE', list, '-inf', '(0', 'WITHSCORES')
  local at = marker[2] and -tonumber(marker[2]) - 1
  if not marker[2] or at >= tonumber(ARGV[2]) then
    return 0
  end
  if at < tonumber(ARGV[1]) then
    redis.call('DEL', list)
    return -1
  end
  for i = first, added - 1, 1000 do
    redis.call('ZREM', list, unpack(ARGV, i, math.min(i + 999, added - 1)))
  end
  local is_cut = marker[1] == 'newest'
  if is_cut then
    -- A cut list has no members below its oldest one, so an added member that belongs there stays
    -- out. Rank 0 is the marker, rank 1 the oldest member.
    for i = added, last, 2 do
      redis.call('ZREM', list, ARGV[i + 1])
    end
    if redis.call('ZCARD', list) == 1 then
      redis.call('DEL', list)
      return -1
    end
    for i = added, last, 2 do
      redis.call('ZADD', list, ARGV[i], ARGV[i + 1])
      if redis.call('ZRANK', list, ARGV[i + 1]) == 1 then
        redis.call('ZREM', list, ARGV[i + 1])
      end
    end
  else
    for i = added + 998, last, 998 do
      redis.call('ZADD', list, unpack(ARGV, i, math.min(i + 997, last)))
    end
  end
  -- With the marker: one command for most changes.
  local version = -tonumber(ARGV[2]) - 1
  if is_cut then
    redis.call('ZADD', list, version, marker[1])
  else
    redis.call('ZADD', list, version, marker[1], unpack(ARGV, added, math.min(added + 997, last)))
  end
  local excess = last >= added and redis.call('ZCARD', list) - 1 - most or 0
  if excess > 0 then
    redis.call('ZREMRANGEBYRANK', list, 1, excess)
    redis.call('ZREM', list, marker[1])
    redis.call('ZADD', list, version, 'newest')
  end
  return 1
end

redis.call('DEL', KEYS[1])
local at, result = 3, nil
for i = 2, #KEYS do
  local added = at + 3 + tonumber(ARGV[at + 1])
  local last = added + tonumber(ARGV[at + 2]) - 1
  result = change(KEYS[i], tonumber(ARGV[at]), at + 3, added, last)
  at = last + 1
end
return result
