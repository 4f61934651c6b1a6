"""The models that peers.py measures: as users have them, with random weights, each with inputs for any batch."""

import dataclasses
import typing

import torch
import transformers as hf
from torchvision import models as tv

WORDS, CONTEXT, FRAMES, STEPS = 128, 128, 3000, 100


@dataclasses.dataclass
class Case:
    name: str
    make: typing.Callable  # returns the module
    inputs: typing.Callable  # returns the positional arguments for a batch
    is_small: bool = False  # takes less than some 5 ms in PyTorch


def images(batch):
    return (torch.randn(batch, 3, 224, 224),)


def tokens(batch):
    return (torch.randint(3, 30000, (batch, WORDS)),)


class Only(torch.nn.Module):
    """A model of transformers with positional arguments and one tensor as its result."""

    def __init__(self, model, result):
        super().__init__()
        self.model = model
        self.result = result

    def forward(self, tokens):
        return getattr(self.model(tokens, use_cache=False) if self.result == "logits" else self.model(tokens), self.result)


class NextToken(torch.nn.Module):
    """GPT-2 after a prompt: one token more, with the keys and values of those before as arguments and results."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, token, past):
        cache = hf.DynamicCache()
        for layer, (key, value) in enumerate(past):
            cache.update(key, value, layer)
        result = self.model(input_ids=token, past_key_values=cache, use_cache=True)
        return result.logits, [(layer.keys, layer.values) for layer in result.past_key_values.layers]


class Translation(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, target):
        return self.model(input_ids=tokens, decoder_input_ids=target, use_cache=False).logits


def next_token(batch):
    past = [(torch.randn(batch, 12, CONTEXT, 64), torch.randn(batch, 12, CONTEXT, 64)) for _ in range(12)]
    return torch.randint(3, 30000, (batch, 1)), past


def translation(batch):
    return torch.randint(3, 30000, (batch, WORDS)), torch.randint(3, 30000, (batch, WORDS // 4))


def vision(name):
    return Case(name, lambda: getattr(tv, name)(), images)


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(256, 512, num_layers=2, batch_first=True)
        self.head = torch.nn.Linear(512, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


CASES = [
    vision("resnet18"),
    vision("resnet50"),
    vision("mobilenet_v2"),
    vision("efficientnet_b0"),
    vision("convnext_tiny"),
    Case("vit_s_16", lambda: tv.VisionTransformer(224, 16, 12, 6, 384, 1536), images),
    Case("bert_base", lambda: Only(hf.BertModel(hf.BertConfig()), "last_hidden_state"), tokens),
    Case("distilbert", lambda: Only(hf.DistilBertModel(hf.DistilBertConfig()), "last_hidden_state"), tokens),
    Case("gpt2_prompt", lambda: Only(hf.GPT2LMHeadModel(hf.GPT2Config()), "logits"), tokens),
    Case("gpt2_token", lambda: NextToken(hf.GPT2LMHeadModel(hf.GPT2Config())), next_token),
    Case("t5_small", lambda: Translation(hf.T5ForConditionalGeneration(hf.T5Config(num_layers=6, num_heads=8))),
         translation),
    Case("whisper_tiny", lambda: Only(hf.WhisperModel(hf.WhisperConfig(
        d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536)).encoder, "last_hidden_state"),
         lambda batch: (torch.randn(batch, 80, FRAMES),)),
    Case("lstm", Recurrent, lambda batch: (torch.randn(batch, STEPS, 256),)),
    # Where the cost of calls counts more than that of kernels.
    Case("mlp", lambda: torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)),
         lambda batch: (torch.randn(batch, 64),), is_small=True),
]


def made(case):
    torch.manual_seed(0)
    model = case.make().eval()
    if hasattr(model, "heads"):  # a vision transformer's head begins with zeros
        torch.nn.init.normal_(model.heads.head.weight, 0, 0.02)
    return model


def inputs_of(case, batch):
    torch.manual_seed(1)
    return case.inputs(batch)
