-- Adds an author to the set of hot authors. KEYS: the set (layout: directory.py).
-- ARGV: the author's 8 bytes, a new validator.
-- A set that is being read from the shards is deleted: the process that reads may have passed the
-- author's shard already.
-- Returns whether the author is new.
local data = redis.call('GET', KEYS[1])
local is_set = data and string.byte(data, 1) ~= 0
for at = 9, is_set and #data or 0, 8 do
  if string.sub(data, at, at + 7) == ARGV[1] then
    return 0
  end
end
if is_set then
  redis.call('SET', KEYS[1], ARGV[2] .. string.sub(data, 9) .. ARGV[1], 'KEEPTTL')
else
  redis.call('DEL', KEYS[1])
end
return 1
