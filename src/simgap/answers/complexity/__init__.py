"""How hard is a class?"""
