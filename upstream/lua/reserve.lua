-- ARGV: permit, class, longest wait, how long a permit may stay unused, longest life of a call that was begun, how long
-- people are about after one of them.
-- Returns {1, wait until its moment} when booked, {0, time after which to ask again} when not.
local permit, interactive = ARGV[1], ARGV[2] == 'interactive'
local longest, unused, life, stay = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local before = redis.call('ZSCORE', KEYS[2], permit)
if before then return {1, math.max(0, math.ceil(before - unused - now))} end
local moment, limits = now, {}
for i = 1, #KEYS / 2 do
  local of = prune(limit(i))
  local capacity = of.capacity
  -- as many places as the others may have, evenly
  if of.people > now then of.pace = of.pace * math.max(capacity - 1, 1) / math.max(capacity - of.kept - 1, 1) end
  if not interactive then
    moment = math.max(moment, of.next)
    if of.people > now then capacity = capacity - of.kept end
  end
  moment = math.max(moment, of.open, free_from(of, capacity))
  limits[i] = of
end
if moment - now > longest then return {0, math.ceil(moment - now)} end
for _, of in ipairs(limits) do
  redis.call('ZADD', of.calls, text(moment + unused + life + of.window), permit)
  redis.call('ZADD', of.booked, text(moment + unused), permit)
  keep(of.booked)
  -- A call that is a little late is made up for. A longer pause is not: calls that went close together end close together,
  -- and leave a gap in each window to come. A person's call costs the others one turn, of a window of turns at most.
  local due = moment - of.next > 2 * of.pace and moment or of.next
  redis.call('ZADD', of.calls, text(math.min(due + of.pace, moment + of.window)), 'next')
  if interactive then redis.call('ZADD', of.calls, text(now + stay), 'people') end
end
return {1, math.ceil(moment - now)}
