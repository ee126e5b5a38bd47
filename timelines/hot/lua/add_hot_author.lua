-- Adds an author to the set of hot authors. KEYS: the set (layout: directory.py).
-- ARGV: the author's 8 bytes, a new validator. A set that is being read from the shards is deleted:
-- the process that reads may have passed the author's shard already.
-- Returns whether anything changed.
local data = redis.call('GET', KEYS[1])
if not data then
  return 0
end
if string.byte(data, 1) == 0 then
  return redis.call('DEL', KEYS[1])
end
for at = 9, #data, 8 do
  if string.sub(data, at, at + 7) == ARGV[1] then
    return 0
  end
end
redis.call('SET', KEYS[1], ARGV[2] .. string.sub(data, 9) .. ARGV[1], 'KEEPTTL')
return 1
