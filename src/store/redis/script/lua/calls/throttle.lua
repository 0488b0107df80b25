-- Slots for begins that are a step apart (GCRA). Times are in microseconds.
--
-- KEYS: 1 "TIME REQUEST": the next slot, and the request that took the last one
-- ARGV: 1 the request's identity, 2 the function, 3 the step, 4 the burst: how much sooner than its slot a begin may
--       be; "reserve": 5 the patience: the longest wait
-- Returns of "reserve": {"1", WAIT}, or {"0", WAIT} if nothing is reserved, as that would be too long; of "look":
-- {WAIT}.
local key = KEYS[1]
local id, action = ARGV[1], ARGV[2]
local step, burst = tonumber(ARGV[3]), tonumber(ARGV[4])
local now = now_us()
local free, last = string.match(redis.call('GET', key) or '', '^(%d+) (.*)$')
free = tonumber(free or 0)

local function digits(number)
    return string.format('%.0f', number)
end

if action == 'reserve' and last == id then
    return {'1', digits(math.max(0, free - step - burst - now))} -- sent again
end
local at = math.max(free, now)
local wait = math.max(0, at - burst - now)
if action == 'look' then
    return {digits(wait)}
end
if wait > tonumber(ARGV[5]) then
    return {'0', digits(wait)}
end
free = at + step
redis.call('SET', key, digits(free) .. ' ' .. id, 'PX', digits(math.ceil((free - now) / 1000)))
return {'1', digits(wait)}
