-- The server's time in microseconds since 1970. All holders must go by one clock: where an ACL forbids
-- TIME this is an error.
local function now_us()
    local time = redis.call('TIME')
    return time[1] * 1000000 + time[2]
end
