"""Small trained models of Stratagem: a folder each, with the models of a run and a card."""
