"""How soon does the agent find out?"""
