-- Adds the report of a process. KEYS: the reports (layout: reporter.py). ARGV: name of the process
-- (empty: none is added), its report, for how many ms a report counts. Returns the time of Redis in ms, and all reports
-- that count: name, report, name, report …
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[1] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%d:', now) .. ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
local kept = {}
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local since, report = string.match(all[at + 1], '^(%d+):(.*)$')
  if since and now - tonumber(since) <= tonumber(ARGV[3]) then
    kept[#kept + 1] = all[at]
    kept[#kept + 1] = report
  else
    redis.call('HDEL', KEYS[1], all[at])
  end
end
return {now, kept}
