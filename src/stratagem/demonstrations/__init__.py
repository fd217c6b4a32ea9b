"""Demonstrations: play of scripted players and bots, put in words, as data of supervised fine-tuning."""
