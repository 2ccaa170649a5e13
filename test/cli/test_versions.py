"""nodes names the server of a master as the server does."""


from harness import ROOT, ClusterCase

HELLO = (ROOT / "lib" / "wire" / "scripts" / "hello.lua").read_text(encoding="ascii")
# Makes a server's INFO look like that of another.
OTHER = """local real = redis
local redis = {call = function(command, ...)
    local reply = real.call(command, ...)
    if command == 'info' then
        reply = reply:gsub('\\n%%w+_version:[^\\r\\n]*\\r', '') .. '%s'
    end
    return reply
end}
"""
TERMS = ("1", "scratch:clock", "30000", "10000", "1000", "1", "0", "55000000")


class Versions(ClusterCase):
    masters = 1

    def said_with(self, *lines):
        """The report on a server with these lines in its INFO."""
        script = OTHER % "".join(f"\\r\\n{line}\\r\\n" for line in lines) + HELLO
        return self.cluster.cli(1, "EVAL", script, *TERMS).splitlines()[1]

    def test_redis(self):
        self.assertEqual(self.said_with("redis_version:8.0.6"), "8.0.6")

    def test_valkey_names_a_redis_too(self):
        self.assertEqual(self.said_with("redis_version:7.2.4", "server_name:valkey",
                                        "valkey_version:9.1.2"), "valkey 9.1.2")

    def test_the_one_that_is_there(self):
        info = dict(line.split(":", 1) for line in self.cluster.cli(1, "INFO", "server").splitlines()
                    if ":" in line)
        version = "valkey " + info["valkey_version"] if "valkey_version" in info \
            else info["redis_version"]
        self.assertIn(f"  up  {version}, master, ", self.redlock("nodes", status=0).out)
        told = self.redlock("nodes", "--json", status=0).json
        self.assertEqual([node["version"] for node in told["nodes"]], [version])
