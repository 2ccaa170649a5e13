"""A run of chaos with leases that go by their tokens: the checker condemns doctored records of bearers and
of a breaker, each for exactly the right reason."""

import unittest

from test_check import BEGIN, MS, Case, at

A, B = "aaaa:bearer-2", "bbbb:bearer-3"


class Tokens(Case):
    """One acquires A and leaves it; another takes it over and gives it back. Then the other acquires B, which
    is broken."""

    def setUp(self):
        super().setUp()
        self.record.run |= {"recipes": "bearer=3"}
        self.facts = {
            "bearer-1": [[2000, "breaking", B], [3000, "broke", B, 0, 1500]],
            "bearer-2": [[1000, "asks", "acquire", "-"], [1001, "holds", A, at(2900)],
                         [1100, "detaching", A, at(2900)],
                         [1101, "detached", A], [1300, "asks", "extend", A],
                         [1301, "refused", A, "REDLOCK_E_GONE"],
                         [3000, "asks", "acquire", "-"], [3001, "holds", "cccc:bearer-2", at(4900)],
                         [3100, "releasing", "cccc:bearer-2"],
                         [3101, "released", "cccc:bearer-2", "REDLOCK_OK"]],
            "bearer-3": [[1110, "asks", "attach", A], [1111, "holds", A, at(3000)], [1200, "releasing", A],
                         [1201, "released", A, "REDLOCK_OK"], [1205, "asks", "acquire", "-"],
                         [1210, "holds", B, at(3200)], [1900, "valid", B, at(3800)], [2200, "lost", B],
                         [2200, "releasing", B], [2201, "released", B, "REDLOCK_E_GONE"]]}


class Sound(Tokens):
    def test_a_sound_record(self):
        told = self.assert_well()["recipes"]["tokens"]
        self.assertEqual([told[it] for it in ("acquired", "attached", "extended", "refused", "detached",
                                              "broken",
                                              "told lost", "masters from older data")],
                                              [3, 1, 0, 1, 1, 1, 1, 0])

    def test_one_that_is_killed(self):
        self.record.fault("killed", "bearer-3", 1250, 1300)
        self.facts["bearer-3"] = self.facts["bearer-3"][:6]
        self.facts["bearer-3.2"] = []
        self.facts["bearer-2"] = self.facts["bearer-2"][:6]
        self.assert_well()
        self.record.raw["bearer-3.2"] = f"{BEGIN + 9000 * MS} ask"
        del self.facts["bearer-3.2"]
        self.assert_well()

    def test_two_processes_with_one_token(self):
        """The one prolongs it while the other has it, who then gives it back."""
        self.change("bearer-2", 4, 1150, "asks", "extend", A)
        self.change("bearer-2", 5, 1151, "holds", A, at(3100))
        self.assert_well()

    def test_an_extend_that_a_release_overtakes(self):
        """Whose request came first nobody knows."""
        self.change("bearer-2", 4, 1200, "asks", "extend", A)
        self.change("bearer-2", 5, 1300, "holds", A, at(3100))
        self.assert_well()

    def test_a_release_of_which_nothing_is_known(self):
        self.change("bearer-3", 3, 1201, "released", A, "REDLOCK_E_UNAVAILABLE")
        self.change("bearer-2", 5, 1301, "holds", A, at(3100))
        self.assert_well()


class Holders(Tokens):
    def test_two_at_once(self):
        self.change("bearer-3", 2, 1220, "releasing", A)
        self.change("bearer-3", 3, 1221, "released", A, "REDLOCK_OK")
        self.change("bearer-3", 4, 1225, "asks", "acquire", "-")
        self.change("bearer-3", 5, 1230, "holds", B, at(3200))
        self.facts["bearer-2"][4:4] = [[1202, "asks", "acquire", "-"],
                                       [1203, "holds", "dddd:bearer-2", at(1219)]]
        self.assert_condemned("tokens", "bearer-2 has dddd:bearer-2 (acquire)", 1)

    def test_one_that_was_left_and_not_taken_over(self):
        """Its validity goes on."""
        del self.facts["bearer-3"][:4]
        self.assert_condemned("tokens", f"bearer-2 has {A} (acquire) until {at(2900)}", 1)

    def test_one_that_does_not_stop_when_it_is_broken(self):
        """Until then it is the breaker's own risk."""
        self.change("bearer-3", 7, 4000, "valid", B, at(4521))
        del self.facts["bearer-3"][8:]
        self.assert_condemned("tokens", "its holder may write until", 1)
        for master in (1, 2):
            self.record.fault("rolled-back", f"master-{master}", 3100, 3200)
        self.assert_condemned("tokens", "its holder may write until", 1)
        self.record.fault("rolled-back", "master-3", 3100, 3200)
        self.assertEqual(self.assert_well()["recipes"]["tokens"]["masters from older data"], 3)

    def test_one_that_was_given_back_before(self):
        """A holder that older data shows is broken once more."""
        self.facts["bearer-1"] = [[1500, "breaking", A], [1600, "broke", A, 0, 100]]
        self.assert_well()

    def test_one_that_was_not_broken(self):
        self.change("bearer-1", 1, 3000, "broke", B, 69, -1)
        self.change("bearer-3", 7, 4000, "valid", B, at(4521))
        del self.facts["bearer-3"][8:]
        self.assert_well()


class GivenBack(Tokens):
    def test_it_is_extended(self):
        self.change("bearer-2", 5, 1301, "holds", A, at(1302))
        self.assert_condemned("tokens", f"bearer-2 asked at {at(1300)} to extend {A}", 1)

    def test_it_is_given_back_again(self):
        self.change("bearer-2", 4, 1300, "asks", "unlock", A)
        self.change("bearer-2", 5, 1301, "released", A, "REDLOCK_OK")
        self.assert_condemned("tokens", f"bearer-2 asked at {at(1300)} to unlock {A}", 1)
        self.change("bearer-2", 5, 1301, "released", A, "REDLOCK_E_GONE")
        self.assert_well()


class SetAgain(Tokens):
    """Its masters are looked at five times a second."""

    def setUp(self):
        super().setUp()
        self.record.keys += [[at(ms), "master-4", *words] for ms, *words in (
            [1150, "token", A, 1700], [1350, "-"], [1550, "token", A, 1900], [1750, "-"])]

    def test_by_a_request_that_came_late(self):
        self.assert_condemned("tokens", f"master-4 has {A} again at {at(1550)}", 1)

    def test_by_one_that_was_struck(self):
        self.record.fault("rolled-back", "master-4", 1400, 1450)
        self.assert_well()
        self.record.faults.clear()
        self.record.fault("frozen", "master-4", 900, 1000)
        self.assert_well()

    def test_it_was_there_all_the_time(self):
        self.record.keys[-3:] = [[at(1550), "master-4", "token", A, 1300], [at(1750), "master-4", "-"]]
        self.assert_well()


class Malformed(Tokens):
    def test_an_unheard_of_fact(self):
        self.change("bearer-2", 5, 1301, "record", A)
        self.assert_condemned("malformed", "records of kind bearer", 1)


if __name__ == "__main__":
    unittest.main()
