"""Where does a policy of Stable-Baselines3 fail? Five lines.

bash examples/sb3_environment.sh                       # once
examples/.sb3/bin/python examples/train_cartpole.py    # once: five minutes
examples/.sb3/bin/python examples/sb3_cartpole.py
examples/.sb3/bin/simgap report sb3-run                # the page
"""

from stable_baselines3 import PPO

import simgap

policy = {"ppo": PPO.load("examples/.sb3/cartpole_ppo.zip")}
poles = "length=0.3..1.5 masspole=0.05..0.8 force_mag=3..14"
print(simgap.transfer("cartpole", policy, randomize=poles, out="sb3-run"))
