-- Slots for begins that are a step apart (GCRA). Times are in microseconds.
--
-- KEYS: 1 "TIME REQUESTS": the next slot, and the requests that took the last ones, with their slots
-- ARGV: 1 the request's identity, 2 the function, 3 the step, 4 the burst: how much sooner than its slot a begin may
--       be; "reserve": 5 the patience: the longest wait
-- Returns of "reserve": {"1", WAIT}, or {"0", WAIT} if nothing is reserved, as that would be too long; of "look":
-- {WAIT}.
local key = KEYS[1]
local id, action = ARGV[1], ARGV[2]
local step, burst = tonumber(ARGV[3]), tonumber(ARGV[4])
local now = now_us()
local free, requests = string.match(redis.call('GET', key) or '', '^(%d+) (.*)$')
local is_reserved, at = answer_before(requests, id)
at = at or math.max(tonumber(free or 0), now)
local wait = math.max(0, at - burst - now)

if action == 'look' then
    return {digits(wait)}
end
if not is_reserved and wait > tonumber(ARGV[5]) then
    return {'0', digits(wait)}
end
if not is_reserved then
    local text = digits(at + step) .. ' ' .. record_request(requests, id, '1', at, now)
    redis.call('SET', key, text, 'PX', digits(math.ceil((at + step - now) / 1000)))
end
return {'1', digits(wait)}
