-- Included after holders.lua: the record of the caller while it holds, for inspections: its fencing token, '' of a
-- reader. Holder information, if there is any, follows the time of the acquire in µs.

-- `held`: its record, if it holds in that way already.
local function noted(fencing, held)
    if note == '' then
        return fencing
    end
    return fencing .. ' ' .. (held and string.match(held, '^%d* (%d+) ') or digits(us)) .. ' ' .. note
end
