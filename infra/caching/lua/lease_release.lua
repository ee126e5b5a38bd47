-- Ends a lease, if it is still its owner's. KEYS: lease. ARGV: token of the owner.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
