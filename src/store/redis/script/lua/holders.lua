-- Included after numbers.lua: how holders are recorded.

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
