-- Gives a lock back, and waits for it no longer.
--
-- KEYS: 1 the lock, 2 its holders' record, 3 its queue, 4 what is kept for its peers
-- ARGV: 1 the holder's token, 2 the waiter, if it may wait
-- Returns 1, or 0 when it was not held.
local token, waiter = ARGV[1], ARGV[2]
local left = waiter and leave(waiter)
local held = redis.pcall('ZREM', lock, token)

if type(held) == 'table' then
    if redis.call('TYPE', lock).ok ~= 'string' then
        return held
    end
    held = 0
elseif held == 1 then
    if redis.call('ZREM', lock, '__write__') == 1 then
        redis.call('DEL', record) -- it was the only holder
    else
        redis.call('HDEL', record, token)
        end_with_last_holder()
    end
end
if not is_queue_empty() then
    serve(now_us(), nil, left or held == 1) -- the lease that it waits for may be another now
end
return held
