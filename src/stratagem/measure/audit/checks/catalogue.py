"""Every check, in the order of its figures."""

from __future__ import annotations

from stratagem.measure.audit.checks.base import AuditCheck
from stratagem.measure.audit.checks.excess_loss import ExcessLossCheck
from stratagem.measure.audit.checks.played import PlayedCheck

CHECKS: tuple[AuditCheck, ...] = (PlayedCheck(), ExcessLossCheck())
"""Checks, once each; each is made in every game of an audit."""
