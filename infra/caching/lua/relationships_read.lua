-- Reads pairs, their validator and the filter in one step. KEYS: hash, filter, viewer's validators.
-- ARGV: field of the validator, the validator to use if there is none, its ttl in ms, then others …
-- Returns validator, one answer or nil per other, filter or nil, number of all answers.
local validator = redis.call('HGET', KEYS[3], ARGV[1])
if not validator then
  validator = ARGV[2]
  redis.call('HSET', KEYS[3], ARGV[1], validator)
  redis.call('PEXPIRE', KEYS[3], ARGV[3])
end
local found = redis.call('HMGET', KEYS[1], unpack(ARGV, 4))
table.insert(found, 1, validator)
found[#found + 1] = redis.call('GET', KEYS[2])
found[#found + 1] = redis.call('HLEN', KEYS[1])
return found
