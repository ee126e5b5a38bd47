-- Applies one step of the reader's following list to a timeline. Layout: zset.py.
-- KEYS: sorted set, sources, head. ARGV: version before, version after, added entries, their
--       low-water mark, author whose entries are removed (6 characters) or '', version at which
--       the step was read.
-- Returns 0 when the timeline reflects a later version than that: the step may have been undone.
-- Added entries are kept at any version, as in change_following.lua.
local head = redis.call('HMGET', KEYS[3], 'complete_from', 'version')
if not head[1] then
  return 1
end
if head[1] ~= 'building' then
  if tonumber(head[2]) < tonumber(ARGV[1]) then
    redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
    return 1
  end
  if tonumber(head[2]) > tonumber(ARGV[6]) then
    return 0
  end
  local version = math.max(tonumber(head[2]), tonumber(ARGV[2]))
  local mark = math.max(tonumber(head[1]), tonumber(ARGV[4]))
  redis.call('HSET', KEYS[3], 'version', string.format('%.0f', version),
    'complete_from', string.format('%.0f', mark))
end
if ARGV[5] ~= '' then
  for _, event in ipairs(redis.call('ZRANGE', KEYS[1], 1, -1)) do
    if string.sub(event, 7, 12) == ARGV[5] then
      redis.call('ZREM', KEYS[1], event)
    end
  end
  local fields = redis.call('HGETALL', KEYS[2])
  for i = 1, #fields, 2 do
    local kept = {}
    for event in string.gmatch(fields[i + 1], '%S+') do
      if string.sub(event, 7, 12) ~= ARGV[5] then
        kept[#kept + 1] = event
      end
    end
    if fields[i] ~= 'build' then
      if #kept == 0 then
        redis.call('HDEL', KEYS[2], fields[i])
      else
        redis.call('HSET', KEYS[2], fields[i], table.concat(kept, ' '))
      end
    end
  end
end
for i = 1, #ARGV[3], 28 do
  local event, original = string.sub(ARGV[3], i, i + 13), string.sub(ARGV[3], i + 14, i + 27)
  if redis.call('ZADD', KEYS[1], tonumber(string.sub(event, 1, 6), 36), event) == 1
      and event ~= original then
    local others = redis.call('HGET', KEYS[2], original)
    redis.call('HSET', KEYS[2], original, others and others .. ' ' .. event or event)
  end
end
return 1
