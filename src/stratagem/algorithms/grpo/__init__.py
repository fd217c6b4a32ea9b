"""GRPO (group-relative policy optimization) on branched rollouts from common states."""
