-- The number of slots that this client knows of, and the largest of any client is stored for those
-- who look.  The build puts this where a script says that it uses it.
local count = tonumber(ARGV[5])
local most = redis.pcall('get', permits)
if not most or type(most) == 'string' and (tonumber(most) or 0) <= count then
    redis.pcall('set', permits, ARGV[5], 'px', 3600000)
end
