-- Ends a load; loaded before the scripts that use it (infra/caching/load_tokens.py).
-- Returns whether Redis still has the token of the load. If so, deletes it.
local function end_load(key, token)
  if redis.call('GET', key) ~= token then
    return false
  end
  redis.call('DEL', key)
  return true
end

