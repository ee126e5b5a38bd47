-- Appends records to an author's pack, if there is one, and ends loads of it (packs.py).
-- KEYS: pack, its load token. ARGV: most bytes kept, bytes that a cut leaves, records.
local HEAD, RECORD = 8, 10
local most, least, records = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local byte, sub, unpack_number = string.byte, string.sub, struct.unpack

redis.call('DEL', KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
local length = redis.pcall('APPEND', KEYS[1], records)
if type(length) == 'table' or (length - HEAD) % RECORD ~= 0 then
  redis.call('DEL', KEYS[1]) -- another program wrote it
  return 0
end
if length <= most then
  return 1
end
-- Drops the records that arrived first. All that is missing now is below the marks.
local data = redis.call('GET', KEYS[1])
local complete_from, late_from = unpack_number('>I4I4', data)
local from = length - least + HEAD + 1
while from <= length and math.floor(byte(data, from + 4) / 64) % 2 == 1 do
  from = from + RECORD -- it says what the repost before it shows
end
for at = HEAD + 1, from - 1, RECORD do
  local second, sequence, after = unpack_number('>I4I2I4', data, at)
  if math.floor(sequence / 16384) % 2 == 0 then
    local seconds = sequence >= 32768 and after or math.floor(after / 1000)
    complete_from = math.max(complete_from, second + 1)
    late_from = math.max(late_from, second + seconds + 1)
  end
end
local head = struct.pack('>I4I4', complete_from, late_from)
redis.call('SET', KEYS[1], head .. sub(data, from), 'KEEPTTL')
return 1
