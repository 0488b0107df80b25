-- Included: how holders are recorded.

-- tostring() would write 1.79e15
local function digits(number)
    return string.format('%.0f', number)
end

-- When a hold ends that begins now, in ms. Rounded up: its holder counts from when it sent this.
local function expiry_after(us, ttl)
    return digits(math.ceil(us / 1000) + ttl)
end

local function end_with_last_holder()
    local last = redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2]
    if last then
        redis.call('PEXPIREAT', lock, last)
        redis.call('PEXPIREAT', record, last)
    end
end

-- Makes a holder the only one: of a free lock, or as its only holder already. `held` goes into its record: '' until it
-- claims.
local function admit_writer(token, expiry, held)
    redis.call('HSET', record, token, held)
    redis.call('ZADD', lock, expiry, token, expiry, '__write__')
    redis.call('PEXPIREAT', lock, expiry)
    redis.call('PEXPIREAT', record, expiry)
end
