"""Every check, in the order of its figures."""

from __future__ import annotations

from stratagem.auditing.checks.base import AuditCheck
from stratagem.auditing.checks.excess_loss import ExcessLossCheck
from stratagem.auditing.checks.played import PlayedCheck

CHECKS: tuple[AuditCheck, ...] = (PlayedCheck(), ExcessLossCheck())
"""Checks, once each; each is made in every game of an audit."""
