-- Writes what a loader read, if the validator is still the same. KEYS: hash, filter.
-- ARGV: validator, ttl in ms, most pairs kept, ttl of the filter in ms, filter (empty: none),
--       then other, answer …
-- A hash that would become too large is emptied first. Nothing changed, so the validator stays.
-- Returns 1 if written.
if redis.call('HGET', KEYS[1], '!') ~= ARGV[1] then
  return 0
end
if ARGV[5] ~= '' then
  redis.call('SET', KEYS[2], ARGV[5], 'PX', ARGV[4])
end
if #ARGV > 5 then
  if redis.call('HLEN', KEYS[1]) - 1 + (#ARGV - 5) / 2 > tonumber(ARGV[3]) then
    redis.call('DEL', KEYS[1])
    redis.call('HSET', KEYS[1], '!', ARGV[1])
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
  redis.call('HSET', KEYS[1], unpack(ARGV, 6))
end
return 1
