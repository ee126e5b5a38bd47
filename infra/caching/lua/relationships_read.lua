-- Reads pairs, their validator and the filter in one step. KEYS: hash, filter, viewer's validators.
-- ARGV: field of the validator, the validator to use if there is none, its ttl in ms, the most pairs
--       of a hash that is returned whole, then others …
-- Returns validator, filter or nil, number of all answers, then other, answer …: of a small hash all
-- of them, so that a page knows of accounts that only its posts name; else those of the others.
local validator = redis.call('HGET', KEYS[3], ARGV[1])
if not validator then
  validator = ARGV[2]
  redis.call('HSET', KEYS[3], ARGV[1], validator)
  redis.call('PEXPIRE', KEYS[3], ARGV[3])
end
local count = redis.call('HLEN', KEYS[1])
local found = {validator, redis.call('GET', KEYS[2]), count}
if count <= tonumber(ARGV[4]) then
  local pairs = redis.call('HGETALL', KEYS[1])
  for i = 1, #pairs do
    found[i + 3] = pairs[i]
  end
  return found
end
local answers = redis.call('HMGET', KEYS[1], unpack(ARGV, 5))
for i = 1, #answers do
  if answers[i] then
    found[#found + 1] = ARGV[i + 4]
    found[#found + 1] = answers[i]
  end
end
return found
