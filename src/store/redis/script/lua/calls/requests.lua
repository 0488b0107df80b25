-- Included before the other files here. A request whose answer was lost is sent again, and others may have changed the
-- record meanwhile: so a record keeps the last requests that have changed it, and answers them as the first time.
--
-- They are one text, the newest first, of entries of one length: the request's identity of 20 bytes, ":", a time in
-- microseconds of 16 digits, and the answer of one byte.
local ENTRY, ENTRIES = 38, 16
-- Life of an entry; well above RESEND_NS of redis/function/function.c.
local ENTRY_US = 60000000

local function digits(number)
    return string.format('%.0f', number)
end

-- The answer and the time with which the request was recorded; nil: it has changed nothing yet.
local function answer_before(requests, id)
    local _, last = string.find(requests or '', id .. ':', 1, true)
    if last then
        return string.sub(requests, last + 17, last + 17), tonumber(string.sub(requests, last + 1, last + 16))
    end
end

-- The text with one more request.
local function record_request(requests, id, answer, time, now)
    local all = string.format('%s:%016.0f%s', id, time, answer)
    all = all .. string.sub(requests or '', 1, (ENTRIES - 1) * ENTRY)
    while tonumber(string.sub(all, -17, -2)) < now - ENTRY_US do
        all = string.sub(all, 1, -ENTRY - 1)
    end
    return all
end
