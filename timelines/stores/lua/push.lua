-- Appends packed entries to timelines that are alive. After write.lua.
-- KEYS: timelines. ARGV: two sizes, entries that each of them gets.
-- Returns how many.
local entries, call = ARGV[3], redis.call
-- A call costs more than what Redis does in it: so many are asked about at once. More of them are
-- seldom all alive, or all not.
local ASKED = 8
-- Of the bytes that a length lacks to the end of its room so many are left when the push went past
-- the end of the room before: room_for(length) ~= room_for(length - #entries), worked out once.
local past = step - #entries

-- By arrival, unless that would put what has just arrived below the mark: old entries that were
-- missing are no reason to forget newer ones.
local function write_cut(key, data)
  local head, from = drop_first(data)
  local kept = data
  if unpack_number('>I4', head) > unpack_number('>I4', entries) then
    head, kept = drop_oldest(data)
    from = 1
  end
  write(key, head, kept, from, 'KEEPTTL')
end

-- Of one being built nothing is cut: a build must not miss any. It is given up at twice the size.
local function rewrite(key)
  local data = call('GET', key)
  local is_building = unpack_number('>I4', data) == BUILDING
  if is_building and #data > 2 * most then
    call('DEL', key)
  elseif #data > most and not is_building then
    write_cut(key, data)
  else
    write(key, head_of(data), data, HEAD + 1, 'KEEPTTL')
  end
end

local reached = 0
for first = 1, #KEYS, ASKED do
  local last = math.min(first + ASKED - 1, #KEYS)
  local alive = call('EXISTS', unpack(KEYS, first, last))
  local are_all = alive == last - first + 1
  reached = reached + alive
  for i = first, alive > 0 and last or 0 do
    if are_all or call('EXISTS', KEYS[i]) == 1 then
      local length = call('APPEND', KEYS[i], entries)
      if (most - length) % step >= past then
        rewrite(KEYS[i])
      end
    end
  end
end
return reached
