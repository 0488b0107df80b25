-- The server's time in microseconds since 1970; the client's where scripts may not ask for it (an
-- ACL), as Symfony's store does it.
local function now_us(client_us)
    local time = redis.pcall('TIME')
    if time.err then
        return tonumber(client_us)
    end
    return time[1] * 1000000 + time[2]
end
