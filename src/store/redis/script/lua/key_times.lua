-- The ms until a key expires; -1: never, -2: there is none.
local function ms_left(key)
    return redis.call('PTTL', key)
end

-- Sets a key for so many ms, '0': for ever. One more, as Redis cuts its time to whole ones, and a holder counts from when
-- it sent this.
local function set_for(ms, key, value)
    if ms == '0' then
        redis.call('SET', key, value)
    else
        redis.call('SET', key, value, 'PX', ms + 1)
    end
end
