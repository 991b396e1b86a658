-- ARGV: permit.
for i = 1, #KEYS / 2 do redis.call('ZREM', KEYS[2 * i - 1], ARGV[1]) end
