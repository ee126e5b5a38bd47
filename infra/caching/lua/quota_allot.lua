-- Gives an allotment of a quota to a process. KEYS: count of one period.
-- ARGV: quota, most to give, ttl in s. Returns how many were given now, and in the whole period.
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local given = math.min(tonumber(ARGV[2]), tonumber(ARGV[1]) - used)
if given <= 0 then
  return {0, used}
end
used = redis.call('INCRBY', KEYS[1], given)
if used == given then
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
return {given, used}
