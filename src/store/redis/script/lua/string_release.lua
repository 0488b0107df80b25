-- Gives a lock back whose key is a string, and waits for it no longer.
--
-- KEYS: 1 the lock, 2 its holder's record, 3 its queue, 4 what is kept for its peers
-- ARGV: 1 the token, as strings.lua has it, '': none, 2 the waiter, if it may wait
-- Returns 1, or 0 when it was not held.
local lock, record, queue, peers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, waiter = ARGV[1], ARGV[2]

-- include numbers.lua
-- include strings.lua

local left = waiter and redis.call('ZREM', queue, 'o' .. waiter) > 0
local held = token ~= '' and holds(token) and redis.call('DEL', lock, record) > 0
local there = redis.call('EXISTS', queue, peers)
if there == 0 then
    return held and 1 or 0
end

-- include queue.lua
-- include peers.lua
-- include queue_strings.lua
-- include serve.lua

may_have_peers = there == 2
serve(now_us(), nil, left or held, held) -- the lease that the first waits for may be another now
return held and 1 or 0
