-- Replaces the record of a cursor, unless another page has ended at the cursor since it was read.
-- Without the record late posts are returned once more. KEYS: the records of one client (layout:
-- records.py). ARGV: cursor, how often a page had ended there, record, ttl in ms. Returns 1 if done.
local old = redis.call('HGET', KEYS[1], ARGV[1])
local entered = old and tonumber(string.match(old, '^(%d+):')) or 0
if entered ~= tonumber(ARGV[2]) then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
