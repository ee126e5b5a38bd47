-- Deletes an entry that is still what it was, whatever its version: after a shard was restored to an
-- earlier moment no version is as high as the wrong one. KEYS: entry. ARGV: what it was.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
