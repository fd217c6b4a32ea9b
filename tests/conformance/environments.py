"""Small environments with the interfaces of TextArena and PettingZoo, to be broken in one respect at a time."""

import random
from types import SimpleNamespace

TREE = {"check": {"check": "end", "bet": {"fold": "end", "call": "end"}}, "bet": {"fold": "end", "call": "end"}}


class KuhnEnv:
    """Kuhn poker with the interface of TextArena; as there, seat 1 begins, and an ante is taken at the end."""

    ante = 1

    def __init__(self, max_rounds=1):
        self.max_rounds = max_rounds

    def reset(self, num_players, seed=None):
        self.rng = random.Random(seed)
        self.told = [[], []]
        self.state = SimpleNamespace(current_player_id=1, rewards=None, game_info=[{}, {}])
        self.deal()
        self.state.game_state = {"pot": 2, "player_chips": {0: -1, 1: -1}, "player_cards": self.cards, "tree": TREE}
        for seat in (0, 1):
            self.tell(seat, f"Your card is: '{'JQK'[self.cards[seat]]}'")
        self.list_actions()

    def deal(self):
        self.cards = dict(enumerate(self.rng.sample(range(3), 2)))

    def tell(self, seat, text):
        self.told[seat].append(text)

    def legal(self):
        return list(self.state.game_state["tree"])

    def list_actions(self):
        listed = ", ".join(f"'[{action}]'" for action in self.legal())
        self.tell(self.state.current_player_id, f"Your available actions are: {listed}")

    def get_observation(self):
        seat = self.state.current_player_id
        return seat, "\n".join(self.told[seat])

    def grow(self, action):
        """Move the chips of a bet or a call."""
        game, seat = self.state.game_state, self.state.current_player_id
        if action in ("bet", "call"):
            game["pot"] += 1
            game["player_chips"][seat] -= 1

    def step(self, text):
        action, game, seat = text.strip("[]").lower(), self.state.game_state, self.state.current_player_id
        if action not in game["tree"]:
            self.tell(seat, f"Player {seat} attempted an invalid move.")
            return False, {}
        self.grow(action)
        for told in (0, 1):
            self.tell(told, f"Player {seat}: [{action}]")
        game["tree"] = game["tree"][action]
        if game["tree"] != "end":
            self.state.current_player_id = 1 - seat
            self.list_actions()
            return False, {}
        self.pay(1 - seat if action == "fold" else max((0, 1), key=self.cards.__getitem__))
        return True, {}

    def pay(self, winner):
        game = self.state.game_state
        game["player_chips"][winner] += game["pot"]
        for seat in (0, 1):
            game["player_chips"][seat] -= self.ante
        self.state.rewards = {winner: 1, 1 - winner: -1}


class FrozenPot(KuhnEnv):
    """Moves no chips on a bet or a call, as TextArena 0.7.4."""

    def grow(self, action):
        pass


class OneGenerator(KuhnEnv):
    """Draws from the generator of the process."""

    def reset(self, num_players, seed=None):
        random.seed(seed)
        super().reset(num_players, seed)

    def deal(self):
        self.cards = dict(enumerate(random.sample(range(3), 2)))

    def list_actions(self):
        self.tell(self.state.current_player_id, f"Lucky number {random.randrange(10**9)}")
        super().list_actions()


class Unseeded(KuhnEnv):
    """Ignores the seed."""

    def deal(self):
        self.cards = dict(enumerate(random.SystemRandom().sample(range(3), 2)))


class UnseededKing(Unseeded):
    """Ignores the seed of a deal that gives seat 1 the king."""

    def deal(self):
        KuhnEnv.deal(self)
        if self.cards[1] == 2:
            super().deal()
            self.tell(0, f"Lucky number {random.SystemRandom().randrange(10**9)}")
            self.tell(1, f"Lucky number {random.SystemRandom().randrange(10**9)}")


class SameDeal(KuhnEnv):
    """Deals the same cards for ever."""

    def deal(self):
        self.cards = {0: 2, 1: 0}


class Telltale(KuhnEnv):
    """Shows seat 1 the card of seat 0."""

    def deal(self):
        super().deal()
        self.tell(1, f"Do not look: {self.cards[0]}")


class NoFolds(KuhnEnv):
    """Does not list that a seat may fold."""

    def legal(self):
        return [action for action in super().legal() if action != "fold"]


class Forgetful(KuhnEnv):
    """Keeps the texts of the episode before."""

    told = None

    def reset(self, num_players, seed=None):
        before = self.told or [[], []]
        super().reset(num_players, seed)
        self.told = [old + new for old, new in zip(before, self.told, strict=True)]


class Refuses(KuhnEnv):
    """Lists a call and refuses it."""

    def step(self, text):
        return super().step("[raise]" if text == "[call]" else text)


class LowCardWins(KuhnEnv):
    """Gives the pot to the loser of a showdown."""

    def pay(self, winner):
        super().pay(winner if self.state.game_state["pot"] == 3 else 1 - winner)


def textarena(env):
    """A module like textarena with one environment."""
    registry = {"KuhnPoker-v0": None}
    spec = SimpleNamespace(envs=SimpleNamespace(registration=SimpleNamespace(ENV_REGISTRY=registry)))
    spec.make = lambda name, **options: env(**options)
    return spec


class RockPaperScissors:
    """One round with the interface of PettingZoo, whose agents choose one after the other, unseen."""

    possible_agents = ("player_0", "player_1")
    payoff = 1

    def __init__(self, max_cycles=15):
        self.infos = {agent: {} for agent in self.possible_agents}
        self.unwrapped = self

    def reset(self, seed=None):
        self.agents, self.agent_selection = list(self.possible_agents), "player_0"
        self.chosen = []
        self.rewards = dict.fromkeys(self.possible_agents, 0)
        self.terminations = self.truncations = dict.fromkeys(self.possible_agents, False)

    def action_space(self, agent):
        return SimpleNamespace(n=3)

    def observe(self, agent):
        return 3

    def step(self, action):
        if action is None:
            self.agents.remove(self.agent_selection)
            self.agent_selection = self.agents[0] if self.agents else None
            return
        self.chosen.append(action)
        self.agent_selection = "player_1" if len(self.chosen) == 1 else "player_0"
        if len(self.chosen) == 2:
            won = (0, self.payoff, -1)[(self.chosen[0] - self.chosen[1]) % 3]
            self.rewards = {"player_0": won, "player_1": -won}
            self.terminations = dict.fromkeys(self.possible_agents, True)


class DearWins(RockPaperScissors):
    """Pays two for a win by the first seat."""

    payoff = 2


class Peeking(RockPaperScissors):
    """Shows the second seat what the first has chosen."""

    def observe(self, agent):
        return str(self.chosen)


class SecretMask(RockPaperScissors):
    """Forbids an action in some episodes, and shows the same in all."""

    def reset(self, seed=None):
        super().reset(seed)
        self.infos = {agent: {"action_mask": [1, 1, seed % 2]} for agent in self.possible_agents}


class Shuffling(RockPaperScissors):
    """Shows a number that each look raises."""

    looks = 0

    def reset(self, seed=None):
        super().reset(seed)
        self.looks = 0

    def observe(self, agent):
        self.looks += 1
        return self.looks
