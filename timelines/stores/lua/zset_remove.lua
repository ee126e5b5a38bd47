-- Removes entries from a timeline. Layout: zset.py. KEYS: sorted set, sources, head.
-- ARGV: low-water mark and version that the caller saw, entries.
-- Returns 0 when the head has others: entries that were stale then may be wanted now.
local head = redis.call('HMGET', KEYS[3], 'complete_from', 'version')
if head[1] ~= ARGV[1] or head[2] ~= ARGV[2] then
  return 0
end
for i = 1, #ARGV[3], 28 do
  local event, original = string.sub(ARGV[3], i, i + 13), string.sub(ARGV[3], i + 14, i + 27)
  redis.call('ZREM', KEYS[1], event)
  local kept = {}
  for one in string.gmatch(redis.call('HGET', KEYS[2], original) or '', '%S+') do
    if one ~= event then
      kept[#kept + 1] = one
    end
  end
  if #kept == 0 then
    redis.call('HDEL', KEYS[2], original)
  else
    redis.call('HSET', KEYS[2], original, table.concat(kept, ' '))
  end
end
return 1
