-- Gives a lock back.
--
-- KEYS: 1 the lock, 2 its holder's record
-- ARGV: 1 the holder's token
-- Returns 1, or 0 when it was not held.
local lock, record = KEYS[1], KEYS[2]

if redis.call('TYPE', lock).ok == 'string' or redis.call('ZREM', lock, ARGV[1]) == 0 then
    return 0
end
if redis.call('ZREM', lock, '__write__') == 1 then
    redis.call('DEL', record)
end
local last = redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2]
if last then
    redis.call('PEXPIREAT', lock, last)
end
return 1
