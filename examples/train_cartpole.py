"""Train the two ONNX policies of this folder with Stable-Baselines3 and PyTorch.

    bash examples/sb3_environment.sh        # once: makes examples/.sb3
    examples/.sb3/bin/python examples/train_cartpole.py

`cartpole_mlp.onnx` (PPO) and `cartpole_lstm.onnx` (recurrent PPO, its state goes in and
comes out) balance a cart-pole whose pole and motor differ from episode to episode.
About five minutes on one core.
"""

from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np
import torch
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO

HERE = Path(__file__).parent
RANGES = {"length": (0.3, 0.8), "masspole": (0.05, 0.3), "force_mag": (6.0, 14.0)}


class Randomized(gymnasium.Wrapper):
    """CartPole-v1 with another pole and motor in every episode."""

    def reset(self, **options):
        found = super().reset(**options)
        env = self.unwrapped
        for name, ends in RANGES.items():
            setattr(env, name, float(self.np_random.uniform(*ends)))
        env.total_mass = env.masspole + env.masscart
        env.polemass_length = env.masspole * env.length
        return found


class Scores(torch.nn.Module):
    """Observation -> the score of each action."""

    def __init__(self, policy):
        super().__init__()
        self.policy = policy

    def forward(self, obs):
        latent, _ = self.policy.mlp_extractor(obs)
        return self.policy.action_net(latent)


class ScoresWithMemory(torch.nn.Module):
    """Observation and state -> scores and next state, named as Isaac Lab does."""

    def __init__(self, policy):
        super().__init__()
        self.policy = policy

    def forward(self, obs, h_in, c_in):
        out, (h, c) = self.policy.lstm_actor(obs.unsqueeze(0), (h_in, c_in))
        return (
            self.policy.action_net(self.policy.mlp_extractor.forward_actor(out[0])),
            h,
            c,
        )


def main() -> None:
    """Train both, export both, and keep a whole episode to compare with."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    env = Randomized(gymnasium.make("CartPole-v1"))
    small = {"net_arch": [32, 32]}
    mlp = PPO("MlpPolicy", env, seed=0, policy_kwargs=small, n_steps=1024)
    mlp.learn(120_000)
    mlp.save(HERE / ".sb3" / "cartpole_ppo.zip")
    export(Scores(mlp.policy), (torch.zeros(1, 4),), ["obs"], ["actions"], "mlp")
    lstm = RecurrentPPO(
        "MlpLstmPolicy",
        env,
        seed=0,
        policy_kwargs={"net_arch": [32], "lstm_hidden_size": 32},
        n_steps=1024,
        batch_size=256,
    )
    lstm.learn(60_000)
    lstm.save(HERE / ".sb3" / "cartpole_lstm.zip")
    state = torch.zeros(1, 1, 32)
    export(
        ScoresWithMemory(lstm.policy),
        (torch.zeros(1, 4), state, state),
        ["obs", "h_in", "c_in"],
        ["actions", "h_out", "c_out"],
        "lstm",
    )
    keep_episode(ScoresWithMemory(lstm.policy))


def export(network, inputs, names, results, kind) -> None:
    """Write a network with any number of worlds as its batch."""
    batch = {each: {1 if each[1:2] == "_" else 0: "worlds"} for each in names + results}
    torch.onnx.export(
        network.eval(),
        inputs,
        HERE / f"cartpole_{kind}.onnx",
        input_names=names,
        output_names=results,
        dynamic_axes=batch,
        dynamo=False,
    )


def keep_episode(network) -> None:
    """Write what the recurrent network says in one episode, for a test of equality."""
    env = gymnasium.make("CartPole-v1")
    seen, _ = env.reset(seed=7)
    h = c = torch.zeros(1, 1, 32)
    rows = []
    for _ in range(200):
        with torch.no_grad():
            scores, h, c = network(torch.tensor(seen)[None], h, c)
        rows.append(np.concatenate([seen, scores[0].numpy()]))
        seen, _, ended, _, _ = env.step(int(scores.argmax()))
        if ended:
            break
    header = "obs_0,obs_1,obs_2,obs_3,score_0,score_1"
    np.savetxt(
        HERE / "cartpole_lstm_episode.csv",
        rows,
        delimiter=",",
        header=header,
        comments="",
    )


if __name__ == "__main__":
    main()
