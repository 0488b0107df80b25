-- A sequence: entries that are handled one after the other, in the order in which they entered.
--
-- KEYS: 1 the sequence: a hash, 2 tickets by id: a sorted set, 3 payloads by ticket: a hash
-- ARGV: 1 the request's identity, 2 the function, 3 the TTL in ms; "enter": 4 the id, 5 the payload, if it is to be
--       kept; "resume", "next": 4 the ticket, 5 the owner, 6 its lease in ms; "put_back": 4 the ticket, 5 the owner;
--       "abandon": 4 the patience in ms, 5 the owner, 6 its lease; "inspect": none of them
-- Returns a list of texts: see latch_function in src/latch.h.
--
-- Fields: head, the ticket whose turn it is; absent: there is none. at: all tickets up to this one have ended. Those
-- that were abandoned are no more in the set. owner, until: whose the head is, until when. begun: since when. seen: the
-- last sign of life of the head. average: how long an owner takes. requests: those that have abandoned or
-- put back, see requests.lua. All times are in microseconds, and so are tickets: the time of the enter.
local sequence, tickets, payloads = KEYS[1], KEYS[2], KEYS[3]
local id, action, ttl = ARGV[1], ARGV[2], ARGV[3]
local FORGETS_AFTER, AVERAGE = 1000, 1000000 -- LATCH_TICKETS_MAX, LATCH_AVERAGE_US
local now = now_us()
local known = redis.call('HMGET', sequence, 'at', 'head', 'owner', 'until', 'begun', 'seen', 'average', 'requests')
local at, head, owner, lease_end = tonumber(known[1] or 0), tonumber(known[2] or 0), known[3], tonumber(known[4] or 0)
local begun, seen, average, requests = tonumber(known[5] or 0), tonumber(known[6] or 0), tonumber(known[7] or 0), known[8]
local newest = tonumber(redis.call('ZREVRANGE', tickets, 0, 0, 'WITHSCORES')[2] or 0)

local function keep()
    for _, key in ipairs(KEYS) do
        if redis.call('PTTL', key) < tonumber(ttl) then
            redis.call('PEXPIRE', key, ttl)
        end
    end
end

local is_parked = redis.call('HEXISTS', payloads, digits(head)) == 1

-- Makes the first entry after `at` the head.
local function promote()
    local following = redis.call('ZRANGEBYSCORE', tickets, '(' .. digits(at), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    redis.call('HDEL', sequence, 'head', 'owner', 'until', 'begun')
    head, owner, lease_end, begun = tonumber(following[2] or 0), false, 0, 0
    redis.call('HSET', sequence, 'at', digits(at))
    if head > 0 then
        redis.call('HSET', sequence, 'head', digits(head), 'seen', digits(now))
    end
end

local function is_free_for(caller)
    return not owner or owner == caller or lease_end <= now
end

local function lease(caller, ms)
    if owner ~= caller then
        begun = now
    end
    redis.call('HSET', sequence, 'owner', caller, 'until', digits(now + ms * 1000), 'begun', digits(begun),
        'seen', digits(now))
    keep()
end

-- Hands a parked head out to the caller.
local function hand_out(caller, ms)
    local payload = head > 0 and is_free_for(caller) and redis.call('HGET', payloads, digits(head))
    if not payload then
        return {}
    end
    lease(caller, ms)
    return {digits(head), payload}
end

local functions = {}

function functions.enter()
    local ticket = tonumber(redis.call('ZSCORE', tickets, ARGV[4]) or 0)
    if ticket == 0 then
        ticket = math.max(now, newest + 1, at + 1)
        redis.call('ZADD', tickets, digits(ticket), ARGV[4])
        if head == 0 then
            head = ticket
            redis.call('HSET', sequence, 'head', digits(head), 'seen', digits(now))
        elseif ARGV[5] then
            redis.call('HSET', payloads, digits(ticket), ARGV[5])
        end
        keep()
    end
    return {digits(ticket), ticket == head and not is_parked and '1' or '0'}
end

function functions.resume()
    local ticket = tonumber(ARGV[4])
    if #redis.call('ZRANGEBYSCORE', tickets, digits(ticket), digits(ticket)) == 0 then
        return {'late', '0'}
    end
    if ticket == head and is_free_for(ARGV[5]) then
        lease(ARGV[5], tonumber(ARGV[6]))
        return {'go', '0'}
    end
    if ticket > at and ticket ~= head then
        local distance = redis.call('ZCOUNT', tickets, digits(head), '(' .. digits(ticket))
        return {'held', digits(distance * (average > 0 and average or AVERAGE))}
    end
    local is_held = not is_free_for(ARGV[5]) and (ticket == head or is_parked)
    return {ticket == head and 'held' or 'done', digits(is_held and lease_end - now or 0)}
end

-- Forgets the first of those that have ended, when they are too many.
local function forget()
    if redis.call('ZCOUNT', tickets, '-inf', digits(at)) > FORGETS_AFTER then
        redis.call('ZREM', tickets, redis.call('ZRANGE', tickets, 0, 0)[1])
    end
end

function functions.next()
    local ticket, caller = tonumber(ARGV[4]), ARGV[5]
    if ticket == head and head > 0 and is_free_for(caller) then
        if owner == caller then
            average = math.max(1, average > 0 and math.floor((3 * average + now - begun) / 4) or now - begun)
            redis.call('HSET', sequence, 'average', digits(average))
        end
        redis.call('HDEL', payloads, digits(head))
        at = head
        promote()
        forget()
        keep()
    end
    return ticket < head and hand_out(caller, tonumber(ARGV[6])) or {}
end

function functions.put_back()
    if tonumber(ARGV[4]) == head and owner == ARGV[5] and not answer_before(requests, id) then
        redis.call('HDEL', payloads, digits(head))
        redis.call('HDEL', sequence, 'owner', 'until', 'begun')
        redis.call('HSET', sequence, 'seen', digits(now), 'requests', record_request(requests, id, '1', now, now))
        keep()
    end
    return {}
end

function functions.abandon()
    if answer_before(requests, id) then
        return hand_out(ARGV[5], tonumber(ARGV[6])) -- sent again
    end
    if head == 0 or owner and lease_end > now or seen + tonumber(ARGV[4]) * 1000 > now then
        return {}
    end
    if not is_parked then
        redis.call('ZREM', tickets, redis.call('ZRANGEBYSCORE', tickets, digits(head), digits(head))[1])
        at = head
        promote()
    end
    redis.call('HSET', sequence, 'requests', record_request(requests, id, '1', now, now))
    keep()
    return hand_out(ARGV[5], tonumber(ARGV[6]))
end

function functions.inspect()
    local behind = head > 0 and redis.call('ZCOUNT', tickets, '(' .. digits(head), '+inf') or 0
    return {head > 0 and digits(head) or '', is_parked and '1' or '0', digits(owner and math.max(0, lease_end - now) or 0),
        digits(head > 0 and now - seen or 0), digits(behind), digits(average)}
end

return functions[action]()
