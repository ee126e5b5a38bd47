-- Forgets the answers about others and adds them to the filter.
-- KEYS: hash, filter, viewer's validators, token of a load.
-- ARGV: field of the validator, then other, h1, h2 … (infra/caching/bloom.py)
-- The validator goes: an earlier reader finds none, or another one, and writes nothing.
-- The token goes: later readers do not wait for a load that began before.
-- A filter with more members than its capacity is deleted, and the next loader makes a new one.
redis.call('DEL', KEYS[4])
for i = 2, #ARGV, 3 do
  redis.call('HDEL', KEYS[1], ARGV[i])
end
redis.call('HDEL', KEYS[3], ARGV[1])
local bits = (redis.call('STRLEN', KEYS[2]) - 8) * 8
if bits <= 0 then
  return
end
local capacity, count, old
for i = 2, #ARGV, 3 do
  local h1, h2 = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local calls = {'GET', 'u32', 0, 'GET', 'u32', 32}
  for k = 0, 6 do
    calls[#calls + 1] = 'SET'
    calls[#calls + 1] = 'u1'
    calls[#calls + 1] = 64 + (h1 + k * h2) % bits
    calls[#calls + 1] = 1
  end
  old = redis.call('BITFIELD', KEYS[2], unpack(calls))
  capacity, count = old[1], count or old[2]
  for k = 3, 9 do
    if old[k] == 0 then
      count = count + 1
      break
    end
  end
end
if count > capacity then
  redis.call('DEL', KEYS[2])
elseif count > old[2] then
  redis.call('SETRANGE', KEYS[2], 4, struct.pack('>I4', count))
end
