-- Gives a lock back whose key is a string, and waits for it no longer.
--
-- KEYS: 1 the lock, 2 its holder's record, 3 its queue, 4 what is kept for its peers
-- ARGV: 1 the token, as strings.lua has it, '': none, 2 the waiter, if it may wait
-- Returns 1, or 0 when it was not held.
local lock, record, queue, peers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, waiter = ARGV[1], ARGV[2]
local left = waiter and redis.call('ZREM', queue, 'o' .. waiter) > 0
local held = false

-- holds(token) of strings.lua, without functions, which cost the server as much as commands.
if token ~= '' then
    local blank = string.find(token, ' ', 1, true)
    local owner = blank and string.sub(token, blank + 1) or token
    local current, kept = unpack(redis.call('MGET', lock, record))
    if current == owner then
        held = not blank or blank == 1 or kept and string.sub(kept, -#token - 1) == '\n' .. token
        if not held then
            local by = string.match(kept or '', '\n(.*)$')
            held = not by or (string.match(by, ' (.*)$') or by) ~= owner -- the record is an earlier holder's
        end
    end
    if held then
        redis.call('DEL', lock, record)
    end
end
local there = redis.call('EXISTS', queue, peers)
if there == 0 then
    return held and 1 or 0
end

-- include numbers.lua
-- include strings.lua
-- include queue.lua
-- include peers.lua
-- include queue_strings.lua
-- include serve.lua

may_have_peers = there == 2
local us = now_us()
serve(us, nil, left or held, held) -- the lease that the first waits for may be another now
if held and nobody_waits then
    note_free(us)
end
return held and 1 or 0
