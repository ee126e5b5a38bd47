-- One step of a rate that all processes share (GCRA). KEYS: when the next step is due, in µs.
-- ARGV: µs between steps, µs by which steps may come early. Redis's clock: the callers' differ.
-- Returns 0: go, or µs to wait.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local due = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
local early = due - now - tonumber(ARGV[2])
if early > 0 then
  return math.ceil(early)
end
due = due + tonumber(ARGV[1])
redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil((due - now) / 1000) + 1000)
return 0
