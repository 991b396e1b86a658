-- KEYS: the line. Returns how long until the turn of the first in it (microseconds, 0 when it has come), nothing when nobody waits.
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if not first[1] then return false end
local time = redis.call('TIME')
return math.max(0, tonumber(first[2]) - (time[1] * 1000000 + time[2]))
