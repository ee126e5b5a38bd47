-- Records a page that ended at a cursor. KEYS: the records of one client (layout: records.py).
-- ARGV: cursor, floor, seen until, served ids, ids of the cut page, the rest of the record, ids
-- owed, ttl in ms, how many records are kept, how long a page may take in ms.
-- If another page ended at the same cursor, there may be two clients. Then the record says what both
-- were served: what the earlier page knows, without what the later one owes. If the two pages were
-- read at the same time, each may lack posts of the other: only ids that both had are kept. What one
-- of them had to go down to, the other one may lack. A record that is removed is missing from then on:
-- `since` rises to the second of its cursor, which is in the first four bytes.
local ID = 10
local key, cursor = KEYS[1], ARGV[1]
local floor, seen, served, cut = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local rest, owed = ARGV[6], ARGV[7]

local function set_of(ids)
  local set = {}
  for at = 1, #ids, ID do
    set[string.sub(ids, at, at + ID - 1)] = true
  end
  return set
end

local function filter(ids, set, is_in)
  local kept = {}
  for at = 1, #ids, ID do
    local id = string.sub(ids, at, at + ID - 1)
    if (set[id] or false) == is_in then
      kept[#kept + 1] = id
    end
  end
  return table.concat(kept)
end

local kind = redis.call('TYPE', key).ok
if kind ~= 'hash' and kind ~= 'none' then
  redis.call('DEL', key)
end
local old, entered = redis.call('HGET', key, cursor), 1
local head = '^(%d+):(%d+):(%d+):(%d+):(%d+):(.*)$'
local count, old_floor, old_seen, bytes, cut_bytes, tail = string.match(old or '', head)
if count then
  entered, cut = tonumber(count) + 1, ''
  local old_served = string.sub(tail, 1, tonumber(bytes))
  if tonumber(old_floor) < tonumber(floor) then
    floor = old_floor
  end
  if tonumber(old_seen) + tonumber(ARGV[10]) <= tonumber(seen) then
    served = filter(old_served, set_of(owed), false)
  else
    served = filter(served, set_of(old_served), true)
  end
  if tonumber(old_seen) <= tonumber(seen) then
    seen, rest = old_seen, string.sub(tail, tonumber(bytes) + tonumber(cut_bytes) + 1)
  end
end
local record = string.format('%d:%s:%s:%d:%d:', entered, floor, seen, #served, #cut)
redis.call('HSET', key, cursor, record .. served .. cut .. rest)
redis.call('PEXPIRE', key, ARGV[8])
local cursors = {}
for _, field in ipairs(redis.call('HKEYS', key)) do
  if #field == ID then
    cursors[#cursors + 1] = field
  end
end
if #cursors > tonumber(ARGV[9]) then
  table.sort(cursors)
  local a, b, c, d = string.byte(cursors[1], 1, 4)
  local second = ((a * 256 + b) * 256 + c) * 256 + d
  local since = tonumber(redis.call('HGET', key, 'since') or '')
  redis.call('HDEL', key, cursors[1])
  if since and since < second then
    redis.call('HSET', key, 'since', string.format('%d', second))
  end
end
return 1
