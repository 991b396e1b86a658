-- ARGV: permit, 1 when the caller has begun its call, and knows that nothing was sent; else 0. A call that
-- somebody else has begun with it stays: it may have been sent. The turn of what is cancelled is the next one's.
for i = 1, #KEYS / 2 do
  local of = prune(limit(i))
  local is_unused = redis.call('ZREM', of.booked, ARGV[1]) == 1
  if (is_unused or ARGV[2] == '1') and redis.call('ZREM', of.calls, ARGV[1]) == 1 and of.next > now then
    redis.call('ZADD', of.calls, text(math.max(now, of.next - of.pace)), 'next')
  end
end
