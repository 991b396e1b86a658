-- Opens only limits that hold no call at all.
for i = 1, #KEYS / 2 do
  local calls = limit(i)
  local _, count = open(calls, 0)
  if count == 0 then redis.call('ZADD', calls, text(now), 'next') end
end
