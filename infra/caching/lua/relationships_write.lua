-- Writes what a loader read, if the validator is still the same.
-- KEYS: hash, filter, viewer's validators.
-- ARGV: field of the validator, validator, ttl in ms, most pairs kept, ttl of the filter in ms,
--       filter (empty: none), then other, answer …
-- A hash that would become too large is emptied first. Nothing changed, so the validator stays.
-- Returns 1 if written.
if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then
  return 0
end
if ARGV[6] ~= '' then
  redis.call('SET', KEYS[2], ARGV[6], 'PX', ARGV[5])
end
if #ARGV > 6 then
  local count = redis.call('HLEN', KEYS[1])
  if count + (#ARGV - 6) / 2 > tonumber(ARGV[4]) then
    redis.call('DEL', KEYS[1])
    count = 0
  end
  redis.call('HSET', KEYS[1], unpack(ARGV, 7))
  if count == 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
  end
end
return 1
