-- The value of a name.  The build puts this where a script says that it uses it.

-- Returns an error in place of a value that is no string: another client's.  A user that may not
-- look fails, for that is no answer; the second call makes the error name its line.
local function value_of(name)
    local value = redis.pcall('get', name)
    if type(value) == 'table' and string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
        redis.call('get', name)
    end
    return value
end
