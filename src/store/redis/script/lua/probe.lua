-- Looks whether a hold is there, and changes nothing.
--
-- KEYS: 1 the lock
-- ARGV: 1 the holder's token
-- Returns the milliseconds that are left and 2 for a writer's, 1 for a reader's; nil when there is
-- none.
local lock = KEYS[1]

if redis.call('TYPE', lock).ok == 'string' then
    return false
end
local expiry = redis.call('ZSCORE', lock, ARGV[1])
if not expiry then
    return false
end
local left = math.floor(expiry - now_us() / 1000)
if left <= 0 then
    return false
end
return {left, redis.call('ZSCORE', lock, '__write__') and 2 or 1}
