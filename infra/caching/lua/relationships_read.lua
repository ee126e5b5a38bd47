-- Reads pairs, their validator and the filter in one step. KEYS: hash, filter.
-- ARGV: the validator to use if there is none, its ttl in ms, then others …
-- Returns validator, one answer or nil per other, filter or nil.
local found = redis.call('HMGET', KEYS[1], '!', unpack(ARGV, 3))
if not found[1] then
  redis.call('HSET', KEYS[1], '!', ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  found[1] = ARGV[1]
end
found[#found + 1] = redis.call('GET', KEYS[2])
return found
