-- Gives a lock back, and waits for it no longer.
--
-- KEYS: 1 the lock, 2 its holders' record, 3 its queue, 4 what is kept for its peers
-- ARGV: 1 the holder's token, 2 the waiter, if it may wait
-- Returns 1, or 0 when it was not held.
local token, waiter = ARGV[1], ARGV[2]
local held = redis.call('TYPE', lock).ok ~= 'string' and redis.call('ZREM', lock, token) or 0
local left = waiter and leave(waiter)

if held == 1 then
    redis.call('ZREM', lock, '__write__')
    redis.call('HDEL', record, token)
    end_with_last_holder()
end
if not is_queue_empty() then
    serve(now_us(), nil, left)
end
return held
