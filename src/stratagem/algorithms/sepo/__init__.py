"""SEPO: policy optimisation that penalises exploitability, collusion and harm to others."""
