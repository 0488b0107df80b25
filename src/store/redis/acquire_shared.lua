-- Takes a lock beside other readers, or renews it for one of them, or demotes its writer.
--
-- KEYS: 1 the lock, 2 its holder's record
-- ARGV: 1 the holder's token, 2 the TTL in ms
-- Returns 1, or nil when a writer holds the lock.
local lock, record = KEYS[1], KEYS[2]
local token, ttl = ARGV[1], ARGV[2]
local us = now_us()
local kind = redis.call('TYPE', lock).ok

if kind == 'string' then
    return false
end
if kind ~= 'none' then
    redis.call('ZREMRANGEBYSCORE', lock, '-inf', math.floor(us / 1000))
    if redis.call('ZSCORE', lock, '__write__') then
        if not redis.call('ZSCORE', lock, token) then
            return false
        end
        redis.call('DEL', record)
        redis.call('ZREM', lock, '__write__')
    end
end
redis.call('ZADD', lock, string.format('%.0f', math.ceil(us / 1000) + ttl), token)
redis.call('PEXPIREAT', lock, redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2])
return 1
