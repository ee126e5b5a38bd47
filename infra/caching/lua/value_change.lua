-- Replaces a stored "version:payload" after a change, unless a newer version is stored. An equal
-- version is written again, so that a repeated change repairs an entry.
-- After newer_value.lua. KEYS: entry, token of a load. ARGV: version, payload, ttl in ms.
-- A load in progress may have read before this change, so its token is deleted. A missing entry
-- stays missing: the caller may have read before a change whose entry was lost since.
-- Returns 1 if stored.
redis.call('DEL', KEYS[2])
local entry = redis.call('GET', KEYS[1])
if not entry or is_newer(entry, ARGV[1]) then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2], 'PX', ARGV[3])
return 1
