"""How wide to randomize?"""
