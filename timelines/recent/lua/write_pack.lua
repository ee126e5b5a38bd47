-- Writes a pack that was loaded, if its load token is still there. After end_load.lua.
-- KEYS: pack, its load token. ARGV: token, the pack, time to live in ms.
if not end_load(KEYS[2], ARGV[1]) then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
