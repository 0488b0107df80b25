-- To be included, behind holders.lua: what is recorded of the caller while it holds, for those who ask who does:
-- its fencing token, '' of a reader. If it leaves a note, since when it holds in µs stands behind that, and the note.

-- `held`: what is recorded of it, if it holds in that way already.
local function noted(fencing, held)
    if note == '' then
        return fencing
    end
    return fencing .. ' ' .. (held and string.match(held, '^%d* (%d+) ') or digits(us)) .. ' ' .. note
end
