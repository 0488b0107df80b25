-- Gives permits back, and waits for them no longer.
--
-- KEYS: 1 the holders' weights, 2 the ends of their times, 3 their record, 4 the queue, 5 what is kept for peers
-- ARGV: 1 the holder's token, 2 the waiter, if it may wait
-- Returns 1, or 0 when it held nothing.
local weights, times, record, queue, peers = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local token, waiter = ARGV[1], ARGV[2]

-- Nobody waits, and nothing is kept for peers: the same in fewer commands. The sum of the record's holders stays that,
-- or is dropped; whether it is that of all is seen from the numbers and the mark, whoever comes next.
if not waiter and redis.call('EXISTS', queue, peers) == 0 then
    local recorded, sum = unpack(redis.call('HMGET', record, token, ''))
    local weight = redis.call('ZSCORE', weights, token)
    local was_there = redis.call('ZREM', times, token) == 1 or weight
    if not was_there then
        return 0
    end
    local rest = recorded and sum and weight and sum - weight or 0
    redis.call('ZREM', weights, token)
    if rest > 0 then
        redis.call('HDEL', record, token)
        redis.call('HSET', record, '', rest)
    else
        redis.call('HDEL', record, token, '')
    end
    return 1
end

-- include permit_ends.lua
-- include permits.lua

look()
local left = waiter and redis.call('ZREM', queue, 's' .. waiter) > 0
local held = 0
if redis.call('ZREM', times, token) == 1 or redis.call('ZSCORE', weights, token) then
    forget(token)
    held = 1
end
local there = redis.call('EXISTS', queue, peers)
if there == 0 then
    note_sum()
    return held
end

-- include queue.lua
-- include peers.lua
-- include queue_permits.lua
-- include serve.lua
-- include overtake.lua

local us = now_us()
may_have_peers = there == 2
tally(us)
serve(us, nil, left or held == 1)
note_sum()
return held
