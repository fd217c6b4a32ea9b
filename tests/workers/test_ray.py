"""Work on a Ray cluster of two simulated nodes: the same bytes as in one process, whatever is lost on the way.

`make test-ray` runs it in an environment that has Ray.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from operator import neg

import pytest
from misbehaving import Fatal, own_process
from working import setups, trained

from stratagem.api.serving import workers_of
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.playing.workers.plan import change_plan
from stratagem.playing.workers.shards import play_setups

ray = pytest.importorskip("ray", reason="needs the extra ray")
from ray.cluster_utils import Cluster  # noqa: E402 - after the check that it is there


@pytest.fixture(scope="module")
def cluster():
    own = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    own.add_node(num_cpus=1)
    yield own
    own.shutdown()


@pytest.fixture
def two(cluster):
    cluster.wait_for_nodes()
    workers = workers_of(2, cluster.address)
    yield workers
    workers.close()


def test_results_come_by_index(two):
    assert dict(two.run(neg, range(5))) == {number: -number for number in range(5)}


def test_each_actor_does_the_work_once(two):
    assert len({*two.run_on_each(own_process, None)}) == 2


@pytest.mark.parametrize("name", ["sepo", "league"])
def test_a_run_on_a_cluster_equals_one_in_process(two, tmp_path, name):
    alone = trained(tmp_path / "alone", name)
    with change_plan(workers=two):
        assert trained(tmp_path / "work", name) == alone


def test_a_lost_actor_is_begun_anew_and_its_shard_is_played_again(two, tmp_path):
    wanted = setups("kuhn", [Fatal(tmp_path / "deaths", 1), "random"])
    with change_plan(workers=two, tables_per_shard=2):
        episodes = play_setups(wanted)
    assert (tmp_path / "deaths").read_text() == "died\n"
    assert episodes == play_setups(wanted)


def test_a_run_goes_on_when_a_node_is_lost(cluster, two, tmp_path):
    """Both nodes have an actor; one goes while the run works, and its actor is restarted on a node that came later."""
    alone = trained(tmp_path / "alone", "league")
    assert dict(two.run(neg, range(2))) == {0: 0, 1: -1}
    lost = next(iter(cluster.worker_nodes))
    cluster.add_node(num_cpus=1)
    with ThreadPoolExecutor(1) as pool, change_plan(workers=two):
        loss = pool.submit(_lose, cluster, lost)
        assert trained(tmp_path / "work", "league") == alone
        loss.result()


def _lose(cluster, node):
    time.sleep(4.0)
    cluster.remove_node(node, allow_graceful=False)


def test_more_workers_than_the_cluster_has_cores_are_refused(cluster):
    with pytest.raises(BadParameter, match=r"room for 2 workers of 1 threads, and 3 are asked for"):
        workers_of(3, cluster.address).num_workers  # noqa: B018 - connects


def test_an_address_without_a_cluster_is_refused():
    with pytest.raises(StratagemError, match=r"There is no Ray cluster at 127\.0\.0\.1:1"):
        workers_of(1, "127.0.0.1:1").num_workers  # noqa: B018 - connects


PUT = """
import os, sys
from pathlib import Path
from stratagem.api.serving import workers_of
workers = workers_of(1, "local")
workers.put(Path(sys.argv[1])).drop()
print(os.environ["RAY_AUTH_MODE"])
workers.close()
"""


def test_a_local_cluster_begins_and_has_a_token_whatever_is_asked_of_it_first(tmp_path):
    """Nobody has used Ray in this home, so there is no token of before."""
    (tmp_path / "file").write_text("content")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", PUT, str(tmp_path)],
        env={**environment, "HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "token\n"
    assert (tmp_path / "home" / ".ray" / "auth_token").exists()
