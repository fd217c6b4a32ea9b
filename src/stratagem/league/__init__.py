"""A population and its bookkeeping: who there is, who meets whom, how they fare, and what that says."""
