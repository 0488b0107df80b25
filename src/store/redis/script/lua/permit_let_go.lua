-- As let_go.lua, behind permit_release.lua. The sum of the record is dropped: whoever comes next counts anew.
--
-- KEYS: 1 the holders' weights, 2 the ends of their times, 3 their record
-- ARGV: 1 the holder's token
if redis.call('ZREM', KEYS[2], ARGV[1]) == 1 then
    redis.call('ZREM', KEYS[1], ARGV[1])
    redis.call('HDEL', KEYS[3], ARGV[1], '')
end
