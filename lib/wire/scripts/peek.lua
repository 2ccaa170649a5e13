-- Who holds the first name that is held, and for how long.
-- KEYS the names
-- Returns {value (its first 256 bytes), PTTL}, or nil if all are free.
for i = 1, #KEYS do
    local value = redis.pcall('get', KEYS[i])
    if value then
        if type(value) == 'table' then
            value = '(a ' .. redis.call('type', KEYS[i]).ok .. ', not a lock)'
        end
        return {string.sub(value, 1, 256), redis.call('pttl', KEYS[i])}
    end
end
return false
