-- Renews a hold on permits.
--
-- KEYS: 1 the holders' weights, 2 the ends of their times, 3 their record
-- ARGV: 1 the holder's token, 2 the TTL in ms, 3 'extend': not to an earlier end than it has, and no grant that
--       was not claimed, which who extends knows nothing of
-- Returns 2, or 0 when it holds nothing.
local weights, times, record = KEYS[1], KEYS[2], KEYS[3]
local token, ttl, extends = ARGV[1], ARGV[2], ARGV[3]

-- include permit_ends.lua
-- include permits.lua

local before = redis.call('ZSCORE', times, token)
if not before or not redis.call('ZSCORE', weights, token) then
    return 0
end
if extends and is_unclaimed(redis.call('HGET', record, token)) then
    return 0
end
local over = end_after(now_us(), ttl)
if extends and tonumber(before) >= over then
    return 2
end
look()
redis.call('ZADD', times, over, token)
is_changed = true
end_with_last_holder()
note_sum()
return 2
