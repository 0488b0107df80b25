-- Renews a hold.
--
-- KEYS: 1 the lock, 2 its holders' record
-- ARGV: 1 the holder's token, 2 the TTL in ms
-- Returns 2 when it is a writer's, 1 when it is a reader's, 0 when there is none.
local lock, record = KEYS[1], KEYS[2]
local token, ttl = ARGV[1], ARGV[2]
local us = now_us()

-- include holders.lua

if redis.call('TYPE', lock).ok == 'string' or not redis.call('ZSCORE', lock, token) then
    return 0
end
local expiry = expiry_after(us, ttl)
local writer = redis.call('ZSCORE', lock, '__write__')
redis.call('ZADD', lock, expiry, token)
if writer then
    redis.call('ZADD', lock, expiry, '__write__')
end
end_with_last_holder()
return writer and 2 or 1
