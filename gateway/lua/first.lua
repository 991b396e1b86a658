-- KEYS: the line. Returns 1 when the turn of the first in it has come, 0 when not yet, nothing when nobody waits.
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if not first[1] then return false end
local time = redis.call('TIME')
return tonumber(first[2]) <= time[1] * 1000000 + time[2] and 1 or 0
