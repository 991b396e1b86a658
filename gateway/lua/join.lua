-- KEYS: the line, everybody's last turn, the bell, the traces. ARGV: work, person, time between two turns of one person, how
-- many turns a person has at once, the trace that goes on with the work. Times in microseconds of Redis's clock.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local gap, at_once = tonumber(ARGV[3]), tonumber(ARGV[4])
local last = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[2]) or 0)
local turn = string.format('%.0f', math.max(last, now - at_once * gap) + gap)
if redis.call('ZADD', KEYS[1], 'NX', turn, ARGV[1]) == 1 then redis.call('ZADD', KEYS[2], turn, ARGV[2]) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - at_once * gap))
redis.call('HSET', KEYS[4], ARGV[1], ARGV[5])
for _, key in ipairs({KEYS[1], KEYS[2], KEYS[4]}) do redis.call('PEXPIRE', key, 24 * 3600 * 1000) end
redis.call('RPUSH', KEYS[3], 'line')
redis.call('LTRIM', KEYS[3], -16, -1)
