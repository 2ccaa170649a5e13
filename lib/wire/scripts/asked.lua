-- The arguments of each grant, of which only the first may have a ttl and a proposal (`alike`).  The build
-- puts this where a script says that it uses it.

-- Returns the token, the ttl and the proposal.
local function asked(i)
    if not alike then
        return ARGV[3 * i + 1], ARGV[3 * i - 1], tonumber(ARGV[3 * i])
    end
    local proposal = tonumber(ARGV[3])
    return ARGV[i + 3], ARGV[2], proposal > 0 and proposal + i - 1 or 0
end
