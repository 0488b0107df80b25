-- Renews a hold.
--
-- KEYS: 1 the lock, 2 its holders' record
-- ARGV: 1 the holder's token, 2 the TTL in ms, 3 'extend': not to an earlier end than it has, and not
--       beyond the claim window of a grant, of which the renewal knows nothing
-- Returns 2 when it is a writer's, 1 when it is a reader's, 0 when there is none.
local lock, record = KEYS[1], KEYS[2]
local token, ttl = ARGV[1], ARGV[2]
local us = now_us()

-- include numbers.lua
-- include holders.lua

local before = redis.call('TYPE', lock).ok ~= 'string' and redis.call('ZSCORE', lock, token)
if not before then
    return 0
end
local expiry = expiry_after(us, ttl)
if ARGV[3] and tonumber(before) > tonumber(expiry) then
    expiry = before
end
local writer = redis.call('ZSCORE', lock, '__write__')
if ARGV[3] and redis.call('HGET', record, token) == '' then
    writer = false -- not before it claims that
end
redis.call('ZADD', lock, expiry, token)
if writer then
    redis.call('ZADD', lock, expiry, '__write__')
end
end_with_last_holder()
return writer and 2 or 1
