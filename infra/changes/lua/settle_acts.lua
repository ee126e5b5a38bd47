-- Removes acts that are delivered. A later act on the same thing stays. KEYS: acts of an account.
-- ARGV: field, id of the delivered change, field, id …
for i = 1, #ARGV, 2 do
  local noted = redis.call('HGET', KEYS[1], ARGV[i])
  if noted and tonumber(string.match(noted, '^%d+')) <= tonumber(ARGV[i + 1]) then
    redis.call('HDEL', KEYS[1], ARGV[i])
  end
end
return 1
