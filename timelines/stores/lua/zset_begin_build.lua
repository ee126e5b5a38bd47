-- Begins the build of a timeline, or takes one over. Layout: zset.py.
-- KEYS: sorted set, sources, head. ARGV: build, ttl in ms.
for i = 1, 3 do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= (i == 1 and 'zset' or 'hash') then
    redis.call('DEL', KEYS[i]) -- this store did not write it
  end
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], -1, -1)
redis.call('ZADD', KEYS[1], -1, ARGV[1])
redis.call('HSET', KEYS[2], 'build', ARGV[1])
redis.call('HSET', KEYS[3], 'complete_from', 'building', 'version', 0, 'build', ARGV[1])
for i = 1, 3 do
  redis.call('PEXPIRE', KEYS[i], ARGV[2])
end
return 1
