-- Notes an act, unless a later one is noted. KEYS: acts of an account. ARGV: field, id of the change,
-- the rest of the value, ttl in ms. A note that ends with a colon does not know the count: it replaces
-- none of the same change that does.
local noted = redis.call('HGET', KEYS[1], ARGV[1])
local before = noted and tonumber(string.match(noted, '^%d+')) or 0
local knows_more = string.sub(ARGV[3], -1) ~= ':' or not noted or string.sub(noted, -1) == ':'
if before < tonumber(ARGV[2]) or before == tonumber(ARGV[2]) and knows_more then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ARGV[3])
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
