-- Whether a value is of another library.  The build puts this where a script says that it uses it.

-- A token of this library is 16 bytes in base64url, that is 22 characters, of which the last
-- has two bits; a colon and a label may follow.  Other libraries hand over to nobody.
local function is_foreign(value)
    if type(value) ~= 'string' then
        return 0
    end
    if value == 'redlock:shared' then
        return 0
    end
    local is_bare = #value == 22 and value:find('^[A-Za-z0-9_-]+[AQgw]$')
    return value:byte(23) ~= 58 and not is_bare and 1 or 0
end
