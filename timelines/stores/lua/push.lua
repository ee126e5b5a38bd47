-- Appends packed entries to live timelines. After write.lua.
-- KEYS: timelines. ARGV: two sizes, entries for each of the timelines.
-- Returns how many timelines are live.
local entries, call = ARGV[3], redis.call
-- One EXISTS for this many keys: the call costs more than the lookups in it. A larger group would
-- seldom be all live or all missing.
local GROUP = 8
-- A push crosses the end of the string's room when room_for(length) ~= room_for(length - #entries).
-- That is when the bytes left to the end of the new room are at least this many.
local crossed = step - #entries

-- Cuts by arrival. Exception: if that would put the new entries below the low-water mark, cuts the
-- oldest entries. So late old entries do not remove newer ones.
local function write_cut(key, data)
  local head, from = drop_first(data)
  local kept = data
  if unpack_number('>I4', head) > unpack_number('>I4', entries) then
    head, kept = drop_oldest(data)
    from = 1
  end
  write(key, head, kept, from, 'KEEPTTL')
end

-- A timeline is not cut during its build, which must not miss any push. At twice the size the build
-- is given up.
local function rewrite(key)
  local data = call('GET', key)
  if #data % ENTRY ~= 0 then
    call('DEL', key) -- this store did not write it
    return
  end
  local is_building = unpack_number('>I4', data) == BUILDING
  if is_building and #data > 2 * most then
    call('DEL', key)
  elseif #data > most and not is_building then
    write_cut(key, data)
  else
    write(key, head_of(data), data, HEAD + 1, 'KEEPTTL')
  end
end

local reached, made = 0, {}
for first = 1, #KEYS, GROUP do
  local last = math.min(first + GROUP - 1, #KEYS)
  local live, size = call('EXISTS', unpack(KEYS, first, last)), last - first + 1
  local are_all = live == size
  -- Where most are live, all get the entries, and the others are deleted again: in one call.
  local may_make = not are_all and 2 * live > size
  reached = reached + live
  for i = first, live > 0 and last or 0 do
    if are_all or may_make or call('EXISTS', KEYS[i]) == 1 then
      local length = redis.pcall('APPEND', KEYS[i], entries)
      if type(length) == 'table' then
        call('DEL', KEYS[i]) -- a key of another type
      elseif may_make and length == #entries then
        made[#made + 1] = KEYS[i]
      elseif (most - length) % step >= crossed then
        rewrite(KEYS[i])
      end
    end
  end
end
if #made > 0 then
  call('DEL', unpack(made))
end
return reached
