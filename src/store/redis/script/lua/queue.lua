-- To be included: the wait queue of locks and semaphores, and messages to waiters. Behind it come what is kept
-- for peers (peers.lua), a file of the kind that is waited for (queue_locks.lua, queue_permits.lua), and the
-- procedure by which it is handed over (serve.lua). docs/redis-queue.md says what must hold.
--
-- The queue is a sorted set of waiters in their order. A waiter is a text: its mode, what it waits to be ("r" a
-- reader, "w" a writer, "p" a writer that is a reader meanwhile, "s" a holder of permits), its ticket, a number
-- that its process has given to this wait alone, the length of its token, its token, and its process's channel.
-- What stands there as the token of an "s" is "WEIGHT LIMIT TOKEN".

-- How long a lock is a waiter's that was told so, until it claims it.
local CLAIM_MS = 1000
-- How often the first waiter asks while the holders will tell: seldom enough to find a claim's end.
local SAFETY_MS = 1100
-- How long a queue is there after anybody has asked; redis/lock/store.c's QUEUE_NS.
local QUEUE_MS = 180000

local function read_waiter(entry)
    local mode, ticket, size, at = string.match(entry, '^(%l)(%d+) (%d+) ()')
    return {mode = mode, ticket = ticket, token = string.sub(entry, at, at + size - 1),
            channel = string.sub(entry, at + size)}
end

-- In a cluster messages are sharded: by the server of the slot, to those who have subscribed there.
local function is_sharded(channel)
    return string.sub(channel, -6) == ':shard'
end

-- How many heard it; nil where messages are not allowed.
local function publish(channel, text)
    local receivers = redis.pcall(is_sharded(channel) and 'SPUBLISH' or 'PUBLISH', channel, text)
    return type(receivers) == 'number' and receivers or nil
end

-- Is the waiter's process gone? PUBLISH tells that, too, but counts those who listen to patterns.
local function is_gone(waiter)
    local count = is_sharded(waiter.channel) and 'SHARDNUMSUB' or 'NUMSUB'
    return redis.pcall('PUBSUB', count, waiter.channel)[2] == 0
end

-- As publish().
local function tell(waiter, word, ms)
    local text = word .. ' ' .. waiter.ticket
    return publish(waiter.channel, ms and text .. ' ' .. digits(ms) or text)
end
