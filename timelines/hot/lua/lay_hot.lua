-- Lays the set of hot authors as read from the shards. KEYS: the set.
-- ARGV: the claim of who read, the set, its ttl in ms. Returns 0 when the claim is not there any
-- more: somebody else reads, or an author became hot meanwhile.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
