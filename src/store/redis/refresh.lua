-- Renews a hold.
--
-- KEYS: 1 the lock, 2 its holder's record
-- ARGV: 1 the holder's token, 2 the TTL in ms
-- Returns 2 when it is a writer's, 1 when it is a reader's, 0 when there is none.
local lock, record = KEYS[1], KEYS[2]
local token, ttl = ARGV[1], ARGV[2]
local us = now_us()

if redis.call('TYPE', lock).ok == 'string' or not redis.call('ZSCORE', lock, token) then
    return 0
end
local expiry = string.format('%.0f', math.ceil(us / 1000) + ttl)
redis.call('ZADD', lock, expiry, token)
if redis.call('ZSCORE', lock, '__write__') then
    redis.call('ZADD', lock, expiry, '__write__')
    redis.call('PEXPIREAT', lock, expiry)
    redis.call('PEXPIRE', record, ttl)
    return 2
end
redis.call('PEXPIREAT', lock, redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2])
return 1
