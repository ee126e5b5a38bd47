-- Begins the build of a timeline, or takes one over. Layout: zset.py.
-- KEYS: sorted set, sources, head. ARGV: build, ttl in ms.
-- Keys that do not all name one build are deleted first: one of them was lost. Without its source,
-- a repost that was left would look like a post. Pushes that go with the keys came before this
-- build, which computes their posts.
local call = redis.call
local function is_of(kind, i)
  return call('TYPE', KEYS[i]).ok == kind
end
local build = is_of('hash', 3) and call('HGET', KEYS[3], 'build')
if not build or not is_of('hash', 2) or call('HGET', KEYS[2], 'build') ~= build
    or not is_of('zset', 1) or not call('ZSCORE', KEYS[1], build) then
  call('DEL', KEYS[1], KEYS[2], KEYS[3])
end
call('ZREMRANGEBYSCORE', KEYS[1], -1, -1)
call('ZADD', KEYS[1], -1, ARGV[1])
call('HSET', KEYS[2], 'build', ARGV[1])
call('HSET', KEYS[3], 'complete_from', 'building', 'version', 0, 'build', ARGV[1])
for i = 1, 3 do
  call('PEXPIRE', KEYS[i], ARGV[2])
end
return 1
