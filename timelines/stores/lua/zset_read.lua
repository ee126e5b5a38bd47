-- Returns low-water mark and version, events, posts and their reposts. Returns nothing during a
-- build, when a key is of another build, or when the build is of an earlier generation.
-- Layout: zset.py. KEYS: sorted set, sources, head.
-- ARGV: ttl in ms, 0 keeps the current one; generation (generation.py).
for i = 1, 3 do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= (i == 1 and 'zset' or 'hash') then
    return false
  end
end
local head = redis.call('HMGET', KEYS[3], 'complete_from', 'version', 'build')
local events = redis.call('ZRANGE', KEYS[1], 0, -1)
if not tonumber(head[1]) or not tonumber(head[2]) or table.remove(events, 1) ~= head[3]
    or redis.call('HGET', KEYS[2], 'build') ~= head[3]
    or tonumber(string.sub(head[3], 7, 14), 16) < tonumber(ARGV[2]) then
  return false
end
if ARGV[1] ~= '0' then
  for i = 1, 3 do
    redis.call('PEXPIRE', KEYS[i], ARGV[1])
  end
end
local sources, fields = {}, redis.call('HGETALL', KEYS[2])
for i = 1, #fields, 2 do
  if fields[i] ~= 'build' then
    sources[#sources + 1] = fields[i]
    sources[#sources + 1] = fields[i + 1]
  end
end
return {{head[1], head[2]}, events, sources}
