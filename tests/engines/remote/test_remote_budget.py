"""A budget holds whatever the replies are, and prices are read from a file."""

import asyncio
import threading

import pytest
from asking import CHAT, ask, echo

from stratagem.base.errors import BadParameter
from stratagem.cli.main import main
from stratagem.games.key import Key
from stratagem.language.engines.base import Prompt, Request
from stratagem.language.engines.openai_engine import OpenAIEngine
from stratagem.language.engines.remote.budget import (
    Budget,
    BudgetSpent,
    CallCost,
    largest_cost,
    pay_request,
    read_budget,
    spending,
)
from stratagem.language.engines.remote.retries import Failure, Patience
from stratagem.language.engines.remote.tally import Prices, prices_of, read_prices, use_prices

PRICES = 'currency = "USD"\n["m"]\nprompt = 1.0\nreply = 10\n["gpt-*"]\nprompt = 2\nreply = 20\n'


def write(folder, text=PRICES):
    path = folder / "prices.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("2000calls", (2000, "calls")),
        ("1 call", (1, "calls")),
        ("1e3tokens", None),
        ("100000 Tokens", (100_000, "tokens")),
        ("5usd", (5, "usd")),
        (".5EUR", (0.5, "eur")),
        ("0calls", None),
        ("-1calls", None),
        ("calls", None),
        ("5", None),
        ("", None),
    ],
)
def test_a_budget_is_read(text, budget):
    if budget is None:
        with pytest.raises(BadParameter, match="A budget is an amount and its unit, such as 2000calls"):
            read_budget(text)
    else:
        read = read_budget(text)
        assert (read.amount, read.unit) == budget


def test_calls_beyond_the_budget_are_not_sent(serve):
    server, engine = serve(echo, max_concurrent=4)
    with spending(Budget(10, "calls")) as budget, pytest.raises(BudgetSpent, match=r"^The budget of 10 calls is spent"):
        ask(engine, *range(1, 30))
    assert len(server.asked) == 10
    assert (budget.spent, budget.reserved) == (10, 0)
    assert len(ask(engine, *range(40, 45))) == 5, "the next command has no cap"


def test_each_try_is_a_call(serve):
    server, engine = serve(lambda exchange: exchange.send(500, "busy"), patience=Patience(tries=5, first_wait=0.001))
    with spending(Budget(3, "calls")), pytest.raises(BudgetSpent):
        ask(engine, 1)
    assert len(server.asked) == 3


def test_a_try_that_is_refused_because_of_a_parameter_is_a_call(serve):
    def answer(exchange):
        old = "max_tokens" in exchange.body
        exchange.send(400, "say max_completion_tokens") if old else echo(exchange)

    server, engine = serve(answer, patience=Patience(tries=1))
    with spending(Budget(10, "calls")) as budget:
        assert [call.finish for call in ask(engine, 1)] == ["done"]
    assert budget.spent == len(server.asked) == 2


def test_tokens_of_an_answer_without_a_text_are_counted(serve):
    _, engine = serve(lambda exchange: exchange.say(None, prompt=20, reply=50))
    with spending(Budget(10_000, "tokens")) as budget:
        (call,) = ask(engine, 1, max_new_tokens=100)
    assert (call.finish, call.num_prompt, call.num_reply) == ("error", 20, 50)
    assert (engine.tally.num_errors, engine.tally.num_prompt, engine.tally.num_reply) == (1, 20, 50)
    assert budget.spent == 70


def test_tokens_under_way_are_reserved_in_full(serve):
    """Eight requests at once could spend eight times what is left."""
    most, lock, now = [0], threading.Lock(), [0]

    def answer(exchange):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        threading.Event().wait(0.02)
        with lock:
            now[0] -= 1
        exchange.say("x", prompt=20, reply=50)

    server, engine = serve(answer, max_concurrent=8)
    request = Request(engine=engine, prompt=Prompt(CHAT), guide=None, key=Key(0), max_new_tokens=50)
    largest = largest_cost(request)
    amount = 3 * largest.of("tokens", None) + 1
    with spending(Budget(amount, "tokens")) as budget, pytest.raises(BudgetSpent):
        ask(engine, *range(1, 30), max_new_tokens=50)
    assert most[0] <= 3
    assert budget.spent == 70 * len(server.asked) <= amount
    assert amount - budget.spent < largest.of("tokens", None) + 20


def test_largest_cost_of_a_request_by_hand(serve):
    """Two characters a token, 16 tokens around each message, and a reply of full length."""
    _, engine = serve(lambda exchange: exchange.say("x"))
    prompt = Prompt((("system", "a" * 30), ("user", "b" * 7)))
    largest = largest_cost(Request(engine=engine, prompt=prompt, guide=None, key=Key(0), max_new_tokens=50))
    assert largest == CallCost(1.0, 15 + 16 + 3.5 + 16, 50)
    assert (largest.of("calls", None), largest.of("tokens", None)) == (1.0, 100.5)


def test_a_server_that_counts_no_tokens_is_counted_in_full(serve):
    server, engine = serve(lambda exchange: exchange.say("x", prompt=0, reply=0))
    with spending(Budget(1000, "tokens")) as budget, pytest.raises(BudgetSpent):
        ask(engine, *range(1, 30), max_new_tokens=100)
    assert budget.spent <= 1000
    assert 0 < len(server.asked) < 10


def test_a_budget_of_fractions_ends_where_nothing_is_under_way():
    """0.1 + 0.2 + 0.3 less the same in another order leaves a rest, for which a request would wait without end."""
    budget = Budget(0.65, "usd")
    assert all(budget.reserve(cost) for cost in (0.1, 0.2, 0.3))
    assert budget.reserve(0.3) is False, "it waits for those under way"
    for cost in (0.2, 0.1, 0.3):
        budget.settle(cost, cost)
    assert budget.reserved == 0.0
    assert budget.reserve(0.3) is None


def test_a_late_reply_is_counted_in_full_and_a_refused_one_as_a_call_alone(serve):
    over = threading.Event()

    def answer(exchange):
        exchange.send(400, "no") if exchange.number == 1 else over.wait(5)

    _, engine = serve(answer, patience=Patience(timeout=0.2, tries=1))
    with spending(Budget(10_000, "tokens")) as budget:
        ask(engine, 1, max_new_tokens=100)
        assert budget.spent == 0
        assert ask(engine, 2, max_new_tokens=100)[0].finish == "timeout"
        assert budget.spent > 100
    over.set()


def test_a_cancelled_request_costs_what_it_might_have_cost():
    """The server may go on and bill the whole reply."""

    async def cancel(budget):
        sending = asyncio.ensure_future(pay_request(budget, CallCost(1.0, 100.0, 50.0), None, asyncio.sleep(60)))
        await asyncio.sleep(0.01)
        assert (budget.spent, budget.reserved) == (0, 150)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending

    budget = Budget(1000, "tokens")
    asyncio.run(cancel(budget))
    assert (budget.spent, budget.reserved) == (150, 0)


def test_money_needs_prices_in_its_currency(serve, tmp_path):
    server, engine = serve(echo)
    with spending(Budget(5, "usd")), pytest.raises(BadParameter, match="give them by `prices=` or STRATAGEM_PRICE"):
        ask(engine)
    with use_prices(read_prices(write(tmp_path))):
        engine = OpenAIEngine(engine.name)
        with spending(Budget(5, "eur")), pytest.raises(BadParameter, match="are in usd, and the budget is in eur"):
            ask(engine)
        with spending(Budget(5, "usd")) as budget:
            ask(engine, 1, 2)
    assert budget.spent == pytest.approx(2 * (7 * 1.0 + 3 * 10) / 1e6)
    assert len(server.asked) == 2


def test_prices_of_a_file_go_by_name_and_then_by_the_longest_pattern(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATAGEM_PRICE", "7/8")
    with use_prices(read_prices(write(tmp_path))):
        assert prices_of("m") == Prices(prompt=1, reply=10, currency="usd")
        assert prices_of("gpt-x") == Prices(prompt=2, reply=20, currency="usd")
        assert prices_of("other") == Prices(prompt=7, reply=8)
    assert prices_of("m") == Prices(prompt=7, reply=8)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("m = 3", "The prices of 'm' in"),
        ('["m"]\nprompt = 1', "write currency ="),
        ('["m"]\nprompt = 1\nreply = -2', "The prices of 'm' in"),
        ("currency = 3", "need `currency` as a text"),
        ("=", "it is no TOML"),
    ],
)
def test_prices_that_cannot_be_read_are_one_sentence(tmp_path, text, sentence):
    with pytest.raises(BadParameter) as caught:
        read_prices(write(tmp_path, text))
    assert sentence in str(caught.value)
    with pytest.raises(BadParameter, match="No such file"):
        read_prices(tmp_path / "nothing")


def test_costs_are_calls_tokens_and_money():
    cost = CallCost(1.0, 100.0, 50.0)
    prices = Prices(prompt=2.0, reply=4.0)
    assert [cost.of(unit, prices) for unit in ("calls", "tokens", "usd")] == [1, 150, pytest.approx(400e-6)]
    assert cost.with_known_tokens(7, 3) == CallCost(1.0, 7, 3)
    assert cost.with_known_tokens(0, 3) == CallCost(1.0, 100.0, 3)


def test_a_command_stops_at_its_budget_and_goes_on_with_another(tmp_path, serve, capsys, as_new_process):
    as_new_process()
    server, engine = serve(lambda exchange: exchange.say("PASS"))
    record = str(tmp_path / "record")
    words = ["eval", "kuhn(hands=1)", "--player", engine.name, "--opponents", "AlwaysBet", "--episodes", "8"]
    words += ["--no-chance", "--record", record]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--budget", "5calls"])
    said = " ".join(capsys.readouterr().err.split())
    assert ended.value.code == 4
    assert len(server.asked) == 5
    assert "The budget of 5 calls is spent" in said
    assert "Continue with: stratagem" in said
    with pytest.raises(SystemExit) as ended:
        main([*words, "--budget", "100calls", "--resume"])
    assert ended.value.code == 0
    asked = [(str(body["messages"]), body["seed"]) for body in server.asked]
    assert len(asked) == len(set(asked)), "nothing is paid twice"
    with pytest.raises(SystemExit):
        main([*words[:-2], "--budget", "5shells"])
    assert "The prices of" in capsys.readouterr().err


@pytest.mark.parametrize(("reached", "spent"), [(False, 0.0), (True, 1.0)])
def test_a_request_that_reached_no_server_costs_nothing(reached, spent):
    async def failing():
        raise Failure("was not there", reached=reached)

    budget = Budget(5.0, "calls")
    with pytest.raises(Failure):
        asyncio.run(pay_request(budget, CallCost(1.0, 10.0, 10.0), None, failing()))
    assert (budget.spent, budget.reserved) == (spent, 0.0)
