-- Sent behind release.lua where nobody awaits its answer, and does nothing then: if the server has forgotten that
-- script, the lock is given back all the same, though nobody is told. Short, as it is sent as text; see pending_release.c.
--
-- KEYS: 1 the lock, 2 its holders' record
-- ARGV: 1 the holder's token
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then
    redis.call('ZREM', KEYS[1], '__write__')
    redis.call('HDEL', KEYS[2], ARGV[1])
end
