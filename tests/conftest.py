import os

# the models of the tests are so small that a second thread only waits for the first
os.environ.setdefault("OMP_NUM_THREADS", "1")
