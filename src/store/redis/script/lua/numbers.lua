-- Included: numbers as texts, and when holds end.

-- tostring() would write 1.79e15
local function digits(number)
    return string.format('%.0f', number)
end

-- When a hold ends that begins now, in ms. Rounded up: its holder counts from when it sent this.
local function expiry_after(us, ttl)
    return digits(math.ceil(us / 1000) + ttl)
end
