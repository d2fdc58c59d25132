"""Will it transfer?"""
