-- Gives a lock back, and waits for it no longer.
--
-- KEYS: 1 the lock, 2 its holders' record, 3 its queue, 4 what is kept for its peers
-- ARGV: 1 the holder's token, 2 the waiter, if it may wait
-- Returns 1, or 0 when it was not held.
local lock, record, queue, peers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, waiter = ARGV[1], ARGV[2]
local left = waiter and redis.call('ZREM', queue, 'r' .. waiter, 'w' .. waiter, 'p' .. waiter) > 0
local held = redis.pcall('ZREM', lock, token)
local was_reader, was_writer = false, false

if type(held) == 'table' then
    if redis.call('TYPE', lock).ok ~= 'string' then
        return held
    end
    held = 0
elseif held == 1 and redis.call('ZREM', lock, '__write__') == 1 then
    redis.call('DEL', record) -- it was the only holder
    was_writer = true
elseif held == 1 then
    redis.call('HDEL', record, token)
    was_reader = true
end
local there = redis.call('EXISTS', queue, peers)
if not was_reader and there == 0 then
    return held
end

-- include numbers.lua
-- include holders.lua
-- include queue.lua
-- include peers.lua
-- include queue_locks.lua
-- include serve.lua

may_have_peers = there == 2
if was_reader then
    end_with_last_holder()
end
local us = now_us()
serve(us, nil, left or held == 1, was_writer) -- the lease that the first waits for may be another now
if was_writer and nobody_waits then
    note_free(us)
end
return held
