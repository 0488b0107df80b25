-- To be included: when holds on permits end, and their keys.

-- So long the keys are kept when nobody holds any more: 10 s as Symfony has it, and the mark.
local KEEP_MS, MARK_MS = 10000, 500

-- tostring() would write 1.79e15
local function digits(number)
    return string.format('%.0f', number)
end

-- When a hold ends that begins now. Rounded up: its holder counts from when it sent this.
local function end_after(us, ttl)
    return math.ceil((us + ttl * 1000) / 1000000)
end

-- Lets all keys end some time after the last hold, which ends in that second.
local function keep_until(last)
    local over = math.ceil(last) * 1000 + KEEP_MS + MARK_MS
    redis.call('PEXPIREAT', weights, over)
    redis.call('PEXPIREAT', times, over)
    redis.call('PEXPIREAT', record, over)
end
