-- To be included, behind permit_ends.lua: how permits are held, in the layout of Symfony's Semaphore, and what is recorded of holders.
--
-- Two sorted sets have a member for each holder, its token: `weights` how many permits it has, `times` the second
-- since 1970 from which on it has none. Seconds are whole, as Symfony's scripts fail on fractions; its clients
-- write them by their own clocks.
-- The record has a field for each holder of ours, the limit that it has named: "LIMIT", or with its note "LIMIT
-- SINCE HOST PID SCRIPT", with the time in µs since when it holds; or "LIMIT ?" of one that was granted permits,
-- until it claims them. The field '' is the sum of the weights of these holders, and is there only if they were
-- all. Then nobody else has come, and nobody has gone, if there are as many still, and no peer has added a holder:
-- the key of the weights has a mark, as it ends half a second behind a whole one. Symfony's script that adds a
-- holder, and removes those whose time is over, lets it end with a whole second, or not at all.

-- Numbers of holders in all, and in the record; of permits, by the record, and in all.
local count, own_count, own_sum, used
local noted_sum, recorded -- the field '', and the caller's
local key_count -- of the holders' keys, how many are there
local kept_for -- until which second holders may hold, by the keys' end; nil without the mark: a peer has come
local is_known -- is the sum of the record that of all?
local is_changed = false

-- Granted, and not claimed yet? A note may end in "?" as well.
local function is_unclaimed(recorded)
    return recorded and string.find(recorded, '^%d+ %?$') ~= nil
end

-- By the real clock; before Redis 7 it goes on in a script.
local function read_mark()
    local left, time = redis.pcall('PTTL', weights), redis.call('TIME')
    local over = type(left) == 'number' and left >= 0 and time[1] * 1000 + time[2] / 1000 + left
    if over and math.abs(over % 1000 - MARK_MS) < 20 then
        return math.floor(over / 1000) - KEEP_MS / 1000
    end
end

local function end_with_last_holder()
    local last = redis.call('ZREVRANGE', times, 0, 0, 'WITHSCORES')[2]
    if last then
        keep_until(last)
    end
end

-- To be called before anything is changed.
local function look()
    noted_sum, recorded = unpack(redis.call('HMGET', record, '', token))
    count = redis.call('ZCARD', weights)
    local fields, ends = redis.call('HLEN', record), redis.call('ZCARD', times)
    own_count = fields - (noted_sum and 1 or 0)
    own_sum = tonumber(noted_sum or '')
    key_count = math.min(count, 1) + math.min(ends, 1) + math.min(fields, 1)
    kept_for = read_mark()
    is_known = own_sum ~= nil and kept_for ~= nil and own_count == count and count == ends
end

-- Sums the weights of all holders, and lets the record agree with them.
local function sum_all()
    local is_uneven = redis.call('ZCARD', times) ~= count
    local holders = redis.call('ZRANGE', weights, 0, -1, 'WITHSCORES')
    count, own_count, own_sum, used = 0, 0, 0, 0
    for at = 1, #holders, 2 do
        local holder, weight = holders[at], holders[at + 1]
        if is_uneven and not redis.call('ZSCORE', times, holder) then
            redis.call('ZREM', weights, holder) -- as Symfony's scripts do
        else
            count = count + 1
            used = used + weight
            if redis.call('HEXISTS', record, holder) == 1 then
                own_count = own_count + 1
                own_sum = own_sum + weight
            end
        end
    end
    if redis.call('HLEN', record) > own_count then
        for _, holder in ipairs(redis.call('HKEYS', record)) do
            if holder ~= '' and not redis.call('ZSCORE', weights, holder) then
                redis.call('HDEL', record, holder)
            end
        end
    end
    if not kept_for then
        end_with_last_holder()
    end
    is_known = true -- as far as it is that
    is_changed = true
end

local function forget(holder)
    local weight = redis.call('ZSCORE', weights, holder)
    if weight then
        redis.call('ZREM', weights, holder)
        count = count - 1
        used = used and used - weight
    end
    if redis.call('HDEL', record, holder) == 1 then
        own_count = own_count - 1
        own_sum = own_sum and own_sum - (weight or 0)
    end
    is_changed = true
    return weight
end

-- Drops those whose time is over, and finds out how many permits the others use.
local function tally(us)
    local now = math.floor(us / 1000000)
    local over = redis.call('ZRANGEBYSCORE', times, '-inf', now)
    if #over > 0 then
        redis.call('ZREMRANGEBYSCORE', times, '-inf', now)
        for _, holder in ipairs(over) do
            forget(holder)
        end
    end
    if is_known then
        used = own_sum
    else
        sum_all()
    end
end

-- Makes a holder of who is it already, or is to be it, until then.
local function put(holder, weight, recorded, over)
    if redis.call('HSET', record, holder, recorded) == 1 then
        own_count = own_count + 1
        own_sum = own_sum + weight
    end
    redis.call('ZADD', times, over, holder)
    if redis.call('ZADD', weights, weight, holder) == 1 then
        count = count + 1
        used = used + weight
    end
    is_changed = true
end

-- To be called when all was changed.
local function note_sum()
    if not is_changed then
        return
    end
    local sum = is_known and count > 0 and own_count == count and digits(own_sum)
    if sum and sum ~= noted_sum then
        redis.call('HSET', record, '', sum)
    elseif not sum and noted_sum then
        redis.call('HDEL', record, '')
    end
end
