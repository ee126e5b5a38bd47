-- Writes a whole hash, unless a newer version or its tombstone is cached. KEYS: hash.
-- ARGV: version, ttl in ms, then field, value, field, value …
local old = redis.call('HMGET', KEYS[1], '!', '~')
if tonumber(old[1] or old[2] or -1) > tonumber(ARGV[1]) then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], '!', ARGV[1])
for i = 3, #ARGV, 1000 do
  redis.call('HSET', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
