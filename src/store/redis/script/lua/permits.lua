-- To be included: how permits are held, in the layout of Symfony's Semaphore, and what is recorded of holders.
--
-- Two sorted sets have a member for each holder, its token: `weights` how many permits it has, `times` the second
-- since 1970 from which on it has none. Seconds are whole, as Symfony's scripts fail on fractions; its clients
-- write them by their own clocks.
-- The record has a field for each holder of ours, the limit that it has named: "LIMIT", or with its note "LIMIT
-- SINCE HOST PID SCRIPT", with the time in µs since when it holds; or "LIMIT ?" of one that was granted permits,
-- until it claims them. The field '' is "SUM FIRST": the sum of the weights of these holders, and the holder whose
-- time ends first, of all. As long as that is still so, no peer has removed anybody but itself, as peers remove
-- those whose time is over: then all these holders are there, and when nobody else is, their sum is that of all.

-- As long Symfony keeps both sets when nobody holds any more.
local KEEP_S = 10

-- Numbers of holders in all, and in the record; of permits, by the record, and in all.
local count, own_count, own_sum, used
local noted_sum -- the field ''
local is_known -- does the record agree with the sets?
local is_changed = false

-- tostring() would write 1.79e15
local function digits(number)
    return string.format('%.0f', number)
end

-- When a hold ends that begins now. Rounded up: its holder counts from when it sent this.
local function end_after(us, ttl)
    return math.ceil((us + ttl * 1000) / 1000000)
end

local function first_holder()
    return redis.call('ZRANGE', times, 0, 0)[1]
end

-- Lets all keys end some time after the last holder.
local function end_with_last_holder()
    local last = redis.call('ZREVRANGE', times, 0, 0, 'WITHSCORES')[2]
    if last then
        local over = digits((math.ceil(last) + KEEP_S) * 1000)
        redis.call('PEXPIREAT', weights, over)
        redis.call('PEXPIREAT', times, over)
        redis.call('PEXPIREAT', record, over)
    end
end

-- To be called before anything is changed.
local function look()
    noted_sum = redis.call('HGET', record, '')
    local sum, first = string.match(noted_sum or '', '^(%d+) (.*)$')
    count = redis.call('ZCARD', weights)
    own_count = redis.call('HLEN', record) - (noted_sum and 1 or 0)
    own_sum = tonumber(sum)
    is_known = own_sum ~= nil and first == first_holder() and count == redis.call('ZCARD', times)
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
    is_known = true
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
    local now = digits(math.floor(us / 1000000))
    local over = redis.call('ZRANGEBYSCORE', times, '-inf', now)
    if #over > 0 then
        redis.call('ZREMRANGEBYSCORE', times, '-inf', now)
        for _, holder in ipairs(over) do
            forget(holder)
        end
    end
    if is_known and own_count == count then
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
    redis.call('ZADD', times, digits(over), holder)
    if redis.call('ZADD', weights, digits(weight), holder) == 1 then
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
    local sum = is_known and own_count > 0 and digits(own_sum) .. ' ' .. (first_holder() or '')
    if sum and sum ~= noted_sum then
        redis.call('HSET', record, '', sum)
    elseif not sum and noted_sum then
        redis.call('HDEL', record, '')
    end
end
