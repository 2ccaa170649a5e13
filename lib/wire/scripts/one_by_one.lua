-- The leases from the `first` on, one by one.  The build puts this where a script says that it uses it.  An
-- error of one of several must not become the error of all: a client takes that for nothing done.
if leases == 1 then
    return {serve(1)}
end
for i = first, leases do
    local done, it = pcall(serve, i)
    said[i] = (done or type(it) == 'table') and it or redis.error_reply(tostring(it))
end
return said
