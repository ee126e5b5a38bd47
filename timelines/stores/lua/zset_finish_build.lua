-- Ends a build: adds the computed entries to those pushed since it began. Layout: zset.py.
-- KEYS: sorted set, sources, head. ARGV: build, low-water mark, version, ttl in ms, entries.
-- Returns 0 when another build took over or a key is gone: pushes may be missing.
if redis.call('HGET', KEYS[3], 'build') ~= ARGV[1]
    or redis.call('HGET', KEYS[2], 'build') ~= ARGV[1]
    or not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 0
end
local entries = ARGV[5]
for i = 1, #entries, 28 do
  local event, original = string.sub(entries, i, i + 13), string.sub(entries, i + 14, i + 27)
  if redis.call('ZADD', KEYS[1], tonumber(string.sub(event, 1, 6), 36), event) == 1
      and event ~= original then
    local others = redis.call('HGET', KEYS[2], original)
    redis.call('HSET', KEYS[2], original, others and others .. ' ' .. event or event)
  end
end
redis.call('HSET', KEYS[3], 'complete_from', ARGV[2], 'version', ARGV[3])
for i = 1, 3 do
  redis.call('PEXPIRE', KEYS[i], ARGV[4])
end
return 1
