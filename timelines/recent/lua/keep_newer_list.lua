-- Keeps the later of two lists. KEYS: the list. ARGV: a list, its ttl in s. The first 8 bytes of a
-- list are its time. Returns whether the new list is the later one.
local kind = redis.call('TYPE', KEYS[1]).ok
local old = kind == 'string' and redis.call('GET', KEYS[1]) or ''
if #old >= 8 and string.sub(old, 1, 8) > string.sub(ARGV[1], 1, 8) then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
