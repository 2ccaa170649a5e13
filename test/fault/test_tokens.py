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


    def alter(self, *facts, to=None):
        """Each is the number of a process, an index and a fact; after index `to` bearer-3 says nothing."""
        for number, index, *fact in facts:
            self.change(f"bearer-{number}", index, *fact)
        if to is not None:
            del self.facts["bearer-3"][to + 1:]


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
        self.each((
            ("the one prolongs it while the other has it, who then gives it back",
             lambda: self.alter((2, 4, 1150, "asks", "extend", A), (2, 5, 1151, "holds", A, at(3100))), None),
            ("a release overtakes an extend: whose request came first nobody knows",
             lambda: self.alter((2, 4, 1200, "asks", "extend", A), (2, 5, 1300, "holds", A, at(3100))), None),
            ("nothing is known of a release",
             lambda: self.alter((3, 3, 1201, "released", A, "REDLOCK_E_UNAVAILABLE"),
                                (2, 5, 1301, "holds", A, at(3100))), None)))


class Holders(Tokens):
    def two_at_once(self):
        self.alter((3, 2, 1220, "releasing", A), (3, 3, 1221, "released", A, "REDLOCK_OK"),
                   (3, 4, 1225, "asks", "acquire", "-"), (3, 5, 1230, "holds", B, at(3200)))
        self.facts["bearer-2"][4:4] = [[1202, "asks", "acquire", "-"],
                                       [1203, "holds", "dddd:bearer-2", at(1219)]]

    def left(self):
        """Nobody takes it over; its validity goes on."""
        del self.facts["bearer-3"][:4]

    def broken_again(self):
        """A holder that older data shows, after it has given the lease back."""
        self.facts["bearer-1"] = [[1500, "breaking", A], [1600, "broke", A, 0, 100]]

    def goes_on(self, *broke):
        """When it is broken. Until then it is the breaker's own risk."""
        self.alter(*broke, (3, 7, 4000, "valid", B, at(4521)), to=7)

    def test_holders(self):
        self.each((
            ("two at once", self.two_at_once, ("tokens", "bearer-2 has dddd:bearer-2 (acquire)")),
            ("left, and not taken over", self.left,
             ("tokens", f"bearer-2 has {A} (acquire) until {at(2900)}")),
            ("given back before it is broken", self.broken_again, None),
            ("not broken", lambda: self.goes_on((1, 1, 3000, "broke", B, 69, -1)), None)))

    def test_one_that_does_not_stop_when_it_is_broken(self):
        self.goes_on()
        self.assert_condemned("tokens", "its holder may write until", 1)
        for master in (1, 2):
            self.record.fault("rolled-back", f"master-{master}", 3100, 3200)
        self.assert_condemned("tokens", "its holder may write until", 1)
        self.record.fault("rolled-back", "master-3", 3100, 3200)
        self.assertEqual(self.assert_well()["recipes"]["tokens"]["masters from older data"], 3)


class GivenBack(Tokens):
    def unlocked(self, code):
        self.alter((2, 4, 1300, "asks", "unlock", A), (2, 5, 1301, "released", A, code))

    def test_what_is_asked_afterwards(self):
        self.each((
            ("it is extended", lambda: self.alter((2, 5, 1301, "holds", A, at(1302))),
             ("tokens", f"bearer-2 asked at {at(1300)} to extend {A}")),
            ("it is given back again", lambda: self.unlocked("REDLOCK_OK"),
             ("tokens", f"bearer-2 asked at {at(1300)} to unlock {A}")),
            ("it is gone", lambda: self.unlocked("REDLOCK_E_GONE"), None),
            ("an unheard of fact", lambda: self.alter((2, 5, 1301, "record", A)),
             ("malformed", "records of kind bearer"))))


class SetAgain(Tokens):
    """Its masters are looked at five times a second."""

    def setUp(self):
        super().setUp()
        self.record.keys += [[at(ms), "master-4", *words] for ms, *words in (
            [1150, "token", A, 1700], [1350, "-"], [1550, "token", A, 1900], [1750, "-"])]

    def seen_always(self):
        self.record.keys[-3:] = [[at(1550), "master-4", "token", A, 1300], [at(1750), "master-4", "-"]]

    def test_again(self):
        self.each((
            ("by a late request", lambda: None, ("tokens", f"master-4 has {A} again at {at(1550)}")),
            ("by older data", lambda: self.record.fault("rolled-back", "master-4", 1400, 1450), None),
            ("by one that had not heard", lambda: self.record.fault("frozen", "master-4", 900, 1000), None),
            ("not at all: it was there all the time", self.seen_always, None)))


if __name__ == "__main__":
    unittest.main()
