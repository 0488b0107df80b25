-- The server's time in microseconds since 1970, and its digits. All holders must go by one clock: where an ACL forbids
-- TIME this is an error.
local function now_us()
    local time = redis.call('TIME')
    local fraction = time[2]
    while #fraction < 6 do
        fraction = '0' .. fraction
    end
    local text = time[1] .. fraction
    return text + 0, text
end
