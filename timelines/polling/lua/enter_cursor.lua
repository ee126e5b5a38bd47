-- Records a page that ended at a cursor. KEYS: the records of one client (layout: records.py).
-- ARGV: cursor, floor, seen until, known, served ids, ids owed; ttl in ms, how long a page may take
-- in ms, records of how many seconds before the newest cursor are kept, how many in all, and how many
-- of earlier cursors.
-- If another page ended at the same cursor, there may be two clients. Then the record says what both
-- were served: what the earlier page knows, without what the later one owes. If the two pages were
-- read at the same time, each may lack posts of the other: only ids that both had are kept. What one
-- of them owes is owed. A record that is
-- removed is missing from then on: `since` rises to the second of its cursor, which is in the first
-- four bytes.
local ID = 10
local key, cursor = KEYS[1], ARGV[1]
local floor, seen, known = ARGV[2], ARGV[3], ARGV[4]
local served, owed = ARGV[5], ARGV[6]

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
local count, old_floor, old_seen, old_known, bytes, _, tail =
  string.match(old or '', '^' .. string.rep('(%d+):', 6) .. '(.*)$')
if count then
  entered = tonumber(count) + 1
  local old_served = string.sub(tail, 1, tonumber(bytes))
  local old_owed = string.sub(tail, tonumber(bytes) + 1)
  if tonumber(old_floor) < tonumber(floor) then
    floor = old_floor
  end
  if tonumber(old_known) < tonumber(known) then
    known = old_known
  end
  if tonumber(old_seen) + tonumber(ARGV[8]) <= tonumber(seen) then
    served = filter(old_served, set_of(owed), false)
  else
    served = filter(served, set_of(old_served), true)
  end
  if tonumber(old_seen) <= tonumber(seen) then
    seen = old_seen
  end
  owed = old_owed .. filter(owed, set_of(old_owed), false)
end
local numbers = { entered, floor, seen, known, #served, #owed }
redis.call('HSET', key, cursor, table.concat(numbers, ':') .. ':' .. served .. owed)
redis.call('PEXPIRE', key, ARGV[7])
if old then
  return 1
end
local function second_of(packed)
  local a, b, c, d = string.byte(packed, 1, 4)
  return ((a * 256 + b) * 256 + c) * 256 + d
end
local cursors, fields_of, old_count = {}, {}, 0
for _, field in ipairs(redis.call('HKEYS', key)) do
  if #field >= ID then
    local place = string.sub(field, 1, ID)
    if not fields_of[place] then
      cursors[#cursors + 1], fields_of[place] = place, {}
    end
    table.insert(fields_of[place], field)
  end
end
table.sort(cursors)
local kept_from = second_of(cursors[#cursors]) - tonumber(ARGV[9])
while old_count < #cursors and second_of(cursors[old_count + 1]) < kept_from do
  old_count = old_count + 1
end
local removed = math.max(old_count - tonumber(ARGV[11]), #cursors - tonumber(ARGV[10]))
for n = 1, removed do
  redis.call('HDEL', key, unpack(fields_of[cursors[n]]))
end
if removed > 0 then
  local since, second = tonumber(redis.call('HGET', key, 'since') or ''), second_of(cursors[removed])
  if since and since < second then
    redis.call('HSET', key, 'since', string.format('%d', second))
  end
end
return 1
