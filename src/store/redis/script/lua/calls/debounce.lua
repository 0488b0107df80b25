-- Occurrences in bursts, of each of which the last is to be handled.
--
-- KEYS: 1 the debounce: a hash, 2 tokens of bursts that have ended, and are not done: a sorted set
-- ARGV: 1 the request's identity, 2 the function, 3 the TTL in ms; "done": 4 the token; the others: 4 the quiet time
--       that ends a burst, 5 the most that a burst lasts; "sent", "resume": 6 the token
-- Returns a list of texts: see latch_function in src/latch.h.
--
-- Fields: issued, the last token; requests: see requests.lua, of those that were given a token. last, first: tokens of
-- the last and the first occurrence of a burst, among those that were sent. over: it is done. All times are in
-- microseconds, and so are tokens: the time of the occurrence.
--
-- An occurrence counts when it is known to be sent, by "sent" or by its consumer: a sender that dies before that takes
-- the place of no other.
local debounce, ended = KEYS[1], KEYS[2]
local id, action, ttl = ARGV[1], ARGV[2], ARGV[3]
local BURSTS_MAX = 64 -- LATCH_BURSTS_MAX
local now = now_us()
local known = redis.call('HMGET', debounce, 'issued', 'requests', 'last', 'first', 'over')
local issued, requests, is_over = tonumber(known[1] or 0), known[2], known[5]
local last, first = tonumber(known[3] or 0), tonumber(known[4] or 0)
local ended_count = redis.call('ZCARD', ended) -- an error, if need be, before anything is written
local quiet, max = tonumber(ARGV[4]), tonumber(ARGV[5] or 0)

local function keep()
    for _, key in ipairs(KEYS) do
        if redis.call('PTTL', key) < tonumber(ttl) then
            redis.call('PEXPIRE', key, ttl)
        end
    end
end

local function due()
    return math.min(last + quiet, first + max)
end

-- Does an occurrence belong to the burst of the last one?
local function is_in_burst(token)
    return last > 0 and not is_over and token < due()
end

local function count_in(token)
    if token <= last then
        return
    end
    if not is_in_burst(token) then
        if last > 0 and not is_over then
            redis.call('ZADD', ended, digits(last), digits(last))
            if ended_count >= BURSTS_MAX then
                redis.call('ZREM', ended, redis.call('ZRANGE', ended, 0, 0)[1])
            end
        end
        first = token
    end
    last, is_over = token, nil
    redis.call('HSET', debounce, 'last', digits(last), 'first', digits(first))
    redis.call('HDEL', debounce, 'over')
    keep()
end

-- No token was that high.
local function is_unknown(token)
    return token > math.max(issued, now)
end

local functions = {}

function functions.register()
    local _, token = answer_before(requests, id)
    if not token then
        token = math.max(now, issued + 1, last + 1)
        redis.call('HSET', debounce, 'issued', digits(token), 'requests', record_request(requests, id, '1', token, now))
        keep()
    end
    local end_of_burst = math.min(token + quiet, (is_in_burst(token) and first or token) + max)
    return {digits(token), digits(math.max(0, end_of_burst - now))}
end

function functions.sent()
    local token = tonumber(ARGV[6])
    if not is_unknown(token) then
        count_in(token)
    end
    return {}
end

function functions.resume()
    local token = tonumber(ARGV[6])
    if is_unknown(token) or redis.call('ZSCORE', ended, ARGV[6]) then
        return {'go', '0'}
    end
    count_in(token)
    if token < last or is_over then
        return {'done', '0'}
    end
    return due() > now and {'held', digits(due() - now)} or {'go', '0'}
end

function functions.done()
    redis.call('ZREM', ended, ARGV[4])
    if tonumber(ARGV[4]) == last then
        redis.call('HSET', debounce, 'over', '1')
        keep()
    end
    return {}
end

return functions[action]()
