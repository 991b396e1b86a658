-- ARGV: permit. Its turn is the next one's.
for i = 1, #KEYS / 2 do
  local of = prune(limit(i))
  if redis.call('ZREM', of.calls, ARGV[1]) == 1 and of.next > now then
    redis.call('ZADD', of.calls, text(math.max(now, of.next - of.pace)), 'next')
  end
  redis.call('ZREM', of.booked, ARGV[1])
end
