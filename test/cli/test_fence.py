"""--fence: the number is printed, told and handed on, and it grows."""


from harness import REDLOCK, ClusterCase


class Fence(ClusterCase):
    def lock_and_unlock(self, *options):
        """The fence, once the name is free again."""
        token, fence = self.lock("--fence", *options, self.name).split(" ")
        self.redlock("unlock", "--token", token, self.name, status=0)
        self.assert_free(self.name)
        return int(fence)

    def in_command(self, *options, env=None):
        script = 'printf "%s" "${REDLOCK_FENCE-unset}"'
        return self.redlock("run", *options, self.name, "--", "sh", "-c", script, env=env,
                            status=0)

    def test_lock_prints_token_and_fence_on_one_line(self):
        result = self.redlock("lock", "--fence", self.name, status=0)
        self.assertRegex(result.out, r"^[A-Za-z0-9_-]{22}:\S+ [1-9][0-9]*\n$")
        token, fence = result.out.split()
        self.assert_held(self.name, token)
        self.assertLess(int(fence), 2 ** 53)

    def test_it_grows(self):
        """By every way of asking, with plain leases between."""
        fences = []
        for _ in range(3):
            fences.append(self.lock_and_unlock())
            fences.append(int(self.in_command("--fence").out))
            self.in_command()
            told = self.redlock("lock", "--fence", "--json", self.name, "another", status=0).json
            fences.append(told["fence"])
            self.redlock("unlock", "--token", told["token"], self.name, "another", status=0)
            self.assert_free(self.name)
        self.assertNotIn("fence", self.redlock("lock", "--json", "plain", status=0).json)
        self.assertEqual(fences, sorted(set(fences)))

    def test_one_from_around_us_is_not_handed_on(self):
        env = self.env(REDLOCK_FENCE="77")
        self.assertEqual(self.in_command(env=env).out, "unset")
        result = self.redlock("run", "--fence", "outer", "--", REDLOCK, *self.patience, "run",
                              "inner", "--", "sh", "-c", "env | grep -c ^REDLOCK_FENCE=")
        self.assertEqual((result.status, result.out), (1, "0\n"))

    def test_a_run_in_a_run_has_its_own(self):
        result = self.redlock("run", "--fence", "outer", "--", "sh", "-c",
                              'echo $REDLOCK_FENCE; exec "$0" "$@"', REDLOCK, *self.patience,
                              "run", "--fence", "inner", "--", "sh", "-c",
                              "env | grep -c ^REDLOCK_FENCE=; echo $REDLOCK_FENCE", status=0)
        outer, count, inner = result.out.split()
        self.assertEqual(count, "1")
        self.assertGreater(int(inner), int(outer))

    def test_run_tells_it(self):
        result = self.in_command("--fence", "--verbose")
        self.assertIn(f", fence {result.out}", result.err)
        result = self.in_command("--fence", "--verbose", "--json")
        acquired = next(it for it in result.json_lines if it["event"] == "acquired")
        self.assertEqual(acquired["fence"], int(result.out))
        self.assertNotIn("fence", self.in_command("--verbose").err)
