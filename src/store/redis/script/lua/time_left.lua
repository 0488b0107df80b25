-- The ms until a key expires; -1: never, -2: there is none.
local function ms_left(key)
    return redis.call('PTTL', key)
end
