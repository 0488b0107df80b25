-- Included first: the wait queue of locks and semaphores, and messages to waiters. After it come peers.lua, a file of
-- the kind that is waited for (queue_locks.lua, queue_permits.lua), and the procedure that hands over (serve.lua).
-- docs/redis-queue.md has the invariants.
--
-- The queue is a sorted set of waiters in their order. A waiter is a text: its mode, what it waits to be ("r" a
-- reader, "w" a writer, "p" a writer that is a reader meanwhile, "s" a holder of permits), its ticket, a number
-- that its process has given to this wait alone, the length of its token, its token, and its process's channel.
-- What stands there as the token of an "s" is "WEIGHT LIMIT TOKEN", with a leading zero if it may overtake.

-- Claim window: how long a granted lock waits for the waiter's claim.
local CLAIM_MS = 1000
-- Interval at which the first waiter asks although the holders will wake it: longer than a claim window, to find its
-- end.
local SAFETY_MS = 1100
-- Life of a queue after its last command; QUEUE_LIFE_NS of redis/lock/rollback.c.
local QUEUE_MS = 180000

local function read_waiter(entry)
    local mode, ticket, size, at = string.match(entry, '^(%l)(%d+) (%d+) ()')
    return {mode = mode, ticket = ticket, token = string.sub(entry, at, at + size - 1),
            channel = string.sub(entry, at + size)}
end

-- In a cluster messages are sharded: the server of the slot sends them to its own subscribers.
local function is_sharded(channel)
    return string.sub(channel, -6) == ':shard'
end

-- How many heard it; nil where messages are not allowed.
local function publish(channel, text)
    local receivers = redis.pcall(is_sharded(channel) and 'SPUBLISH' or 'PUBLISH', channel, text)
    return type(receivers) == 'number' and receivers or nil
end

-- Is the waiter's process gone? PUBLISH tells that, too, but also counts subscribers of patterns.
local function is_gone(waiter)
    local count = is_sharded(waiter.channel) and 'SHARDNUMSUB' or 'NUMSUB'
    return redis.pcall('PUBSUB', count, waiter.channel)[2] == 0
end

-- As publish().
local function tell(waiter, word, ms)
    local text = word .. ' ' .. waiter.ticket
    return publish(waiter.channel, ms and text .. ' ' .. digits(ms) or text)
end
