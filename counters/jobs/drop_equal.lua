-- Deletes an entry if its value is still the given one. It ignores the version: after a shard was
-- restored to an earlier state, no new version is as high as the wrong one. KEYS: entry. ARGV: value.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
