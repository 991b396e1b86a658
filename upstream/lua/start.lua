-- ARGV: permit, how long a permit may stay unused, longest life of a call that was begun.
-- Returns 0: begin now. More: ask again after that time. -1: the permit is void.
local permit, unused, life = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local limits, wait, void = {}, 0, false
for i = 1, #KEYS / 2 do
  local of = prune(limit(i))
  local void_from = redis.call('ZSCORE', of.booked, permit)
  if void_from and redis.call('ZSCORE', of.calls, permit) then
    wait = math.max(wait, void_from - unused - now, of.open - now)
  else
    void = true
  end
  limits[i] = of
end
if void then return -1 end
if wait > 0 then return math.ceil(wait) end
for _, of in ipairs(limits) do
  redis.call('ZREM', of.booked, permit)
  redis.call('ZADD', of.calls, text(now + life + of.window), permit)
end
return 0
