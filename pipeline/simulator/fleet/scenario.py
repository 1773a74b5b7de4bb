def make_fleet(s): raise NotImplementedError
