-- Writes a list, unless a newer version is cached. KEYS: sorted set.
-- ARGV: version, marker ("whole" or "newest"), ttl in ms, then score, member, score, member …
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(0', 'WITHSCORES')
if old[2] and -tonumber(old[2]) - 1 > tonumber(ARGV[1]) then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('ZADD', KEYS[1], -tonumber(ARGV[1]) - 1, ARGV[2])
for i = 4, #ARGV, 1000 do
  redis.call('ZADD', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
