-- Brings a cached list from one version to a later one, in place. KEYS: sorted set.
-- ARGV: version before, version after, most members kept, count of removals,
--       removed members …, then score, member …
-- A list at any other version has a gap: it is dropped and read again, unless it is newer already.
-- Returns 1 changed, 0 nothing to do, -1 dropped.
local mark = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(0', 'WITHSCORES')
if not mark[2] then
  return 0
end
local at = -tonumber(mark[2]) - 1
if at >= tonumber(ARGV[2]) then
  return 0
end
if at < tonumber(ARGV[1]) then
  redis.call('DEL', KEYS[1])
  return -1
end
local added = 5 + tonumber(ARGV[4])
if added > 5 then
  redis.call('ZREM', KEYS[1], unpack(ARGV, 5, added - 1))
end
if #ARGV >= added then
  local oldest = redis.call('ZRANGEBYSCORE', KEYS[1], '0', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  local is_cut = mark[1] == 'newest'
  if is_cut and not oldest[2] then
    redis.call('DEL', KEYS[1])
    return -1
  end
  for i = added, #ARGV, 2 do
    -- Below the oldest kept member of a cut list there is a gap: what belongs there stays out.
    if not is_cut or tonumber(ARGV[i]) >= tonumber(oldest[2]) then
      redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i + 1])
    end
  end
end
local excess = redis.call('ZCARD', KEYS[1]) - 1 - tonumber(ARGV[3])
if excess > 0 then
  redis.call('ZREMRANGEBYRANK', KEYS[1], 1, excess)
  redis.call('ZREM', KEYS[1], mark[1])
  mark[1] = 'newest'
end
redis.call('ZADD', KEYS[1], -tonumber(ARGV[2]) - 1, mark[1])
return 1
