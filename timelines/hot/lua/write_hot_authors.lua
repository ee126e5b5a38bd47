-- Writes the set of hot authors as it was read from the shards. KEYS: the set.
-- ARGV: the claim of the process that read, the set, its ttl in ms. Returns 0 when the claim is no
-- longer there: another process reads, or an author became hot in the meantime.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
