-- The names go, each of which holds its token, with all else in `gone`.  The build puts this where a script
-- says that it uses it.
local deleted = redis.call('del', unpack(gone))
for i = 1, #KEYS do
    said[i] = 1
end
if deleted < #gone then -- a name came twice
    local met = {}
    for i = 1, #KEYS do
        said[i], met[KEYS[i]] = met[KEYS[i]] or 1, 0
    end
end
