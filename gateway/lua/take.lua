-- KEYS: the line, the traces. Takes the first out of the line and returns it with its trace; nothing when nobody waits.
local first = redis.call('ZPOPMIN', KEYS[1])
if not first[1] then return {} end
local trace = redis.call('HGET', KEYS[2], first[1])
redis.call('HDEL', KEYS[2], first[1])
return {first[1], trace or ''}
