"""Demonstrations: decisions of scripted players and bots as data of supervised fine-tuning (SFT)."""
