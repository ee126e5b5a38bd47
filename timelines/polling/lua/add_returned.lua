-- Adds what a page returned to what clients that poll in the same way from a cursor were returned.
-- KEYS: the records of one client (layout: records.py). ARGV: cursor and way, floor, known, ids
-- returned, ids owed, ids pending, ids of the cut page; ttl in ms, how many ids are kept. One of the
-- clients got what any of the pages returned. A page that stays at the cursor has no times: it
-- returned its ids only.
local ID = 10
local key, field = KEYS[1], ARGV[1]
local floor, known, served, owed, pending, cut = unpack(ARGV, 2, 7)

local function without(ids, others)
  local set, kept = {}, {}
  for at = 1, #others, ID do
    set[string.sub(others, at, at + ID - 1)] = true
  end
  for at = 1, #ids, ID do
    local id = string.sub(ids, at, at + ID - 1)
    if not set[id] then
      kept[#kept + 1] = id
    end
  end
  return table.concat(kept)
end

local function greater(one, other)
  return tonumber(one) < tonumber(other) and other or one
end

local kind = redis.call('TYPE', key).ok
if kind ~= 'hash' and kind ~= 'none' then
  redis.call('DEL', key)
end
local old = redis.call('HGET', key, field)
local old_floor, old_known, a, b, c, tail =
  string.match(old or '', '^' .. string.rep('(%d+):', 5) .. '(.*)$')
if old_floor then
  local owed_at, pending_at = tonumber(a) + 1, a + b + 1
  local old_served, old_owed = string.sub(tail, 1, a), string.sub(tail, owed_at, a + b)
  local old_pending = string.sub(tail, pending_at, a + b + c)
  floor, known = greater(old_floor, floor), greater(old_known, known)
  owed = without(old_owed, served .. owed) .. without(owed, old_served)
  pending = without(old_pending, pending) .. pending
  served = without(old_served, served) .. served
  if cut == '' then
    cut = string.sub(tail, a + b + c + 1)
  end
end
served = string.sub(served, -ID * tonumber(ARGV[9]))
local numbers = { floor, known, #served, #owed, #pending }
local lists = served .. owed .. pending .. cut
redis.call('HSET', key, field, table.concat(numbers, ':') .. ':' .. lists)
redis.call('PEXPIRE', key, ARGV[8])
return 1
