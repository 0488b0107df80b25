-- Eviction: takes a lock away from holders, and hands it over.
--
-- KEYS: 1 the lock, 2 its holders' record, 3 its queue, 4 what is kept for its peers
-- ARGV: 1 the holders' identities, as inspect.lua tells them, with blanks between them
-- Returns how many of them held it.
local lock, record, queue, peers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local us = now_us()
local evicted = 0

-- include numbers.lua
-- include holders.lua
-- include queue.lua
-- include peers.lua
-- include queue_locks.lua
-- include serve.lua
-- include identity.lua

local function is_named(holder)
    return string.find(' ' .. ARGV[1] .. ' ', ' ' .. identity(holder) .. ' ', 1, true) ~= nil
end

if redis.call('TYPE', lock).ok == 'string' then
    if is_named(redis.call('GET', lock)) then
        evicted = redis.call('DEL', lock)
    end
else
    drop_expired(us)
    for _, holder in ipairs(redis.call('ZRANGE', lock, 0, -1)) do
        if holder ~= '__write__' and is_named(holder) then
            redis.call('ZREM', lock, holder, '__write__') -- if it is a writer it is alone
            redis.call('HDEL', record, holder)
            evicted = evicted + 1
        end
    end
    end_with_last_holder()
end
if evicted > 0 then
    serve(us, nil, true)
end
return evicted
