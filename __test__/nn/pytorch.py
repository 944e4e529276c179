"""Writes layers.safetensors, model.safetensors and model.json beside this file: layers of PyTorch, their gradients, and a saved model.

    pip install torch numpy safetensors && python __test__/nn/pytorch.py

The same bytes every time from the same PyTorch, whose version is in the files.

layers.safetensors: cases in float64, at small sizes. Tensors:

    <case>.state.<name>             the module's state dict, by PyTorch's names, before the first call
    <case>.after.<call>.<name>      its buffers after a call (batch norm in training; call counts from 0)
    <case>.input.<n>                arguments, from 0; masks are `input.key_padding_mask` and `input.attn_mask`, of encoders
                                    `input.src_key_padding_mask` and `input.src_mask` (bool, true: not attended)
    <case>.output.<n>               results, from 0
    <case>.cotangent.<n>            of each result; gradients are of sum over n of sum(output.<n> * cotangent.<n>)
    <case>.gradient.<name>          by a parameter
    <case>.gradient.input.<n>       by a floating argument

Metadata: `torch` is PyTorch's version; each other key is a case's name (no dots in it) with a JSON text as value:

    class      the name in torch.nn; TransformerEncoder is made of `num_layers` layers of the options `layer`, with a LayerNorm behind them
               where `norm` is true
    options    the arguments of its constructor, by PyTorch's names (what is left out has PyTorch's default)
    training   whether the module is in training mode
    calls      how often it is called. Once: the inputs are the arguments of that call, in order: x; query, key, value and the masks of
               MultiheadAttention; x and the initial states of RNN and GRU (h_0) and LSTM (h_0, c_0), whose outputs are output, h_n (and c_n).
               MultiheadAttention's outputs are the result and the weights, averaged over heads. More than once: call n is of input.<n>
               alone and gives output.<n>; gradients are through all calls

model.safetensors: `safetensors.torch.save_file(model.state_dict(), path)` of a float32 `Model` below, which has

    convolutional               Sequential(Conv2d, BatchNorm2d, ReLU, MaxPool2d, Conv2d, BatchNorm2d, ReLU, MaxPool2d, Flatten)
    encoder.token_embedding     Embedding; its sum with
    encoder.position_embedding  Embedding of 0, 1, ...
    encoder.layers.<n>          two of EncoderLayer: attention, linear1, linear2, norm1, norm2, norms first
    encoder.norm                LayerNorm
    recurrent                   LSTM over what the encoder gives; its last h_n is used
    classifier                  Linear, of all three parts side by side: flattened images, the encoder's mean over time, h_n

model.json: `image` [2, 1, 8, 8], `tokens` [2, 5], the model's `logits` [2, 3] in eval mode, and what the three parts gave on the way.
"""

import json
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from torch import nn

HERE = Path(__file__).parent
tensors, metadata = {}, {"torch": torch.__version__}


def some(*shape):
    """Numbers of few binary digits, none of them zero."""
    return torch.round(torch.randn(shape, dtype=torch.float64) * 16) / 16 + 1 / 64


def put(name, tensor):
    tensors[name] = tensor.detach().clone().contiguous()


def fill(module):
    """Every parameter and running statistic is drawn: weights of 1 and biases of 0 would hide where they go."""
    for name, tensor in module.state_dict().items():
        if tensor.is_floating_point():
            drawn = some(*tensor.shape) / 2
            tensor.copy_(drawn.abs() + 0.5 if name == "running_var" else drawn)


def encoder(layer, num_layers, norm=False):
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer), num_layers, nn.LayerNorm(layer["d_model"]) if norm else None, enable_nested_tensor=False)


def case(name, kind, options, inputs, masks=None, training=True, calls=1, states=lambda *inputs: inputs):
    module = (encoder if kind == "TransformerEncoder" else getattr(nn, kind))(**options).to(torch.float64).train(training)
    fill(module)
    inputs = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    metadata[name] = json.dumps({"class": kind, "options": options, "training": training, "calls": calls})
    for key, tensor in module.state_dict().items():
        put(f"{name}.state.{key}", tensor)
    for key, tensor in [*enumerate(inputs), *(masks or {}).items()]:
        put(f"{name}.input.{key}", tensor)
    outputs = []
    for call in range(calls):
        arguments = inputs if calls == 1 else [inputs[call]]
        found = module(*states(*arguments), **(masks or {}))
        for y in found if isinstance(found, tuple) else [found]:
            outputs += y if isinstance(y, tuple) else [y]
        for key, tensor in module.named_buffers() if training else []:
            put(f"{name}.after.{call}.{key}", tensor)
    cotangents = [some(*y.shape) for y in outputs]
    for n, (y, c) in enumerate(zip(outputs, cotangents)):
        put(f"{name}.output.{n}", y)
        put(f"{name}.cotangent.{n}", c)
    sum((y * c).sum() for y, c in zip(outputs, cotangents)).backward()
    for key, tensor in module.named_parameters():
        put(f"{name}.gradient.{key}", tensor.grad)
    for n, x in enumerate(inputs):
        if x.requires_grad:
            put(f"{name}.gradient.input.{n}", x.grad)


def linear_and_embedding():
    for name, shape in [("linear", (2, 3)), ("linear-1d", (3,)), ("linear-3d", (2, 4, 3))]:
        case(name, "Linear", {"in_features": 3, "out_features": 4}, [some(*shape)])
    case("linear-no-bias", "Linear", {"in_features": 3, "out_features": 2, "bias": False}, [some(2, 3)])
    tokens = torch.tensor([[1, 0, 3], [2, 4, 1]])
    case("embedding", "Embedding", {"num_embeddings": 6, "embedding_dim": 3}, [tokens])
    case("embedding-1d", "Embedding", {"num_embeddings": 5, "embedding_dim": 2}, [tokens[1]])
    # The row at padding_idx is read like any other, and has gradient zero.
    case("embedding-padding", "Embedding", {"num_embeddings": 5, "embedding_dim": 2, "padding_idx": 1}, [tokens])
    case("embedding-padding-from-end", "Embedding", {"num_embeddings": 5, "embedding_dim": 2, "padding_idx": -1}, [tokens])


def convolutions():
    narrow = {"in_channels": 4, "out_channels": 6, "kernel_size": 3}
    for name, options in {
        "": {},
        "-no-bias": {"bias": False},
        "-stride-padding": {"stride": 2, "padding": 1},
        "-dilation": {"dilation": 2, "padding": 2},
        "-groups": {"groups": 2, "padding": 1},
        "-same": {"padding": "same", "dilation": 2},
    }.items():
        case("conv1d" + name, "Conv1d", {**narrow, **options}, [some(2, 4, 6)])
    flat = {"in_channels": 2, "out_channels": 4, "kernel_size": 3}
    for name, options in {
        "": {},
        "-no-bias": {"bias": False},
        "-kernel": {"kernel_size": [1, 2]},
        "-stride-padding": {"stride": 2, "padding": 1},
        "-stride-padding-each": {"kernel_size": [3, 2], "stride": [2, 1], "padding": [0, 1]},
        "-dilation": {"kernel_size": 2, "dilation": [2, 1]},
        "-groups": {"groups": 2, "padding": 1},
        "-depthwise": {"groups": 2, "kernel_size": 2, "bias": False},
        "-same": {"padding": "same"},
    }.items():
        case("conv2d" + name, "Conv2d", {**flat, **options}, [some(2, 2, 4, 5)])
    turned = {"in_channels": 2, "out_channels": 2, "kernel_size": 3}
    for name, options in {
        "": {},
        "-no-bias": {"bias": False, "kernel_size": [2, 1]},
        "-stride-padding": {"stride": 2, "padding": 1},
        "-output-padding": {"stride": [2, 3], "padding": 1, "output_padding": [1, 2]},
        "-groups": {"groups": 2, "kernel_size": 2, "stride": 2},
        "-dilation": {"dilation": 2, "kernel_size": 2},
    }.items():
        case("conv-transpose2d" + name, "ConvTranspose2d", {**turned, **options}, [some(2, 2, 2, 3)])


def norms():
    x = some(2, 3, 4)
    case("layer-norm", "LayerNorm", {"normalized_shape": 4}, [x])
    case("layer-norm-two-axes", "LayerNorm", {"normalized_shape": [3, 4], "eps": 0.01}, [x])
    case("layer-norm-no-bias", "LayerNorm", {"normalized_shape": 4, "bias": False}, [x])
    case("layer-norm-plain", "LayerNorm", {"normalized_shape": [4], "elementwise_affine": False}, [x])
    case("rms-norm", "RMSNorm", {"normalized_shape": 4}, [x])
    case("rms-norm-two-axes", "RMSNorm", {"normalized_shape": [3, 4], "eps": 0.01}, [x])
    case("rms-norm-plain", "RMSNorm", {"normalized_shape": [4], "elementwise_affine": False}, [x])
    case("group-norm", "GroupNorm", {"num_groups": 2, "num_channels": 4}, [some(2, 4, 3)])
    case("group-norm-2d", "GroupNorm", {"num_groups": 3, "num_channels": 6, "eps": 0.01}, [some(2, 6, 2, 2)])
    case("group-norm-plain", "GroupNorm", {"num_groups": 1, "num_channels": 2, "affine": False}, [some(2, 2, 3)])
    for name, kind, shape in [
        ("batch-norm1d", "BatchNorm1d", (3, 2)),
        ("batch-norm1d-3d", "BatchNorm1d", (2, 2, 3)),
        ("batch-norm2d", "BatchNorm2d", (2, 2, 2, 2)),
    ]:
        size = {"num_features": shape[1]}
        for more, options in {
            "": {},
            "-momentum": {"momentum": 0.3, "eps": 0.01},
            "-plain": {"affine": False},
            "-no-statistics": {"track_running_stats": False},
        }.items():
            case(f"{name}{more}-training", kind, {**size, **options}, [some(*shape), some(*shape)], calls=2)
            case(f"{name}{more}-eval", kind, {**size, **options}, [some(*shape)], training=False)


def attention():
    options = {"embed_dim": 4, "num_heads": 2, "batch_first": True}
    x, source = some(2, 3, 4), some(2, 5, 4)
    itself, across = [x, x, x], [x, source, source]
    padding = torch.tensor([[False, False, False], [False, False, True]])
    padding_across = torch.tensor([[False, True, False, False, True], [False, False, False, False, True]])
    causal = torch.ones(3, 3).triu(1).bool()
    case("attention", "MultiheadAttention", options, itself)
    case("attention-no-bias", "MultiheadAttention", {**options, "bias": False}, itself)
    case("attention-one-head", "MultiheadAttention", {**options, "num_heads": 1}, itself)
    case("attention-padding", "MultiheadAttention", options, itself, {"key_padding_mask": padding})
    case("attention-causal", "MultiheadAttention", options, itself, {"attn_mask": causal})
    case("attention-causal-padding", "MultiheadAttention", options, itself, {"key_padding_mask": padding, "attn_mask": causal})
    case("attention-cross", "MultiheadAttention", options, across)
    case("attention-cross-padding", "MultiheadAttention", options, across, {"key_padding_mask": padding_across})
    case("attention-cross-three", "MultiheadAttention", {**options, "bias": False}, [x, source, some(2, 5, 4)])


def recurrent():
    size = {"input_size": 3, "hidden_size": 2, "batch_first": True}
    for name, kind, states in [
        ("lstm", "LSTM", lambda x, *s: (x, s) if s else (x,)),
        ("gru", "GRU", lambda x, *s: (x, *s)),
    ]:
        for more, options in {
            "": {},
            "-no-bias": {"bias": False},
            "-two-layers": {"num_layers": 2},
            "-bidirectional": {"bidirectional": True},
            "-two-layers-bidirectional": {"num_layers": 2, "bidirectional": True},
        }.items():
            rows = options.get("num_layers", 1) * (2 if "bidirectional" in options else 1)
            initial = [some(rows, 2, 2) for _ in range(2 if name == "lstm" else 1)]
            # Without states too, which are then zeros.
            for end, given in [("", []), ("-states", initial)]:
                if more in ("", "-no-bias", "-bidirectional") or given:
                    case(name + more + end, kind, {**size, **options}, [some(2, 3, 3), *given], states=states)


def plain_recurrent():
    size = {"input_size": 3, "hidden_size": 2, "batch_first": True}
    for more, options in {
        "": {},
        "-relu": {"nonlinearity": "relu"},
        "-no-bias": {"bias": False},
        "-two-layers-bidirectional": {"num_layers": 2, "bidirectional": True},
    }.items():
        rows = options.get("num_layers", 1) * (2 if "bidirectional" in options else 1)
        case("rnn" + more, "RNN", {**size, **options}, [some(2, 3, 3)])
        case("rnn" + more + "-states", "RNN", {**size, **options}, [some(2, 3, 3), some(rows, 2, 2)])


def instance_norms():
    case("instance-norm1d", "InstanceNorm1d", {"num_features": 2}, [some(2, 2, 3)])
    case("instance-norm2d-affine", "InstanceNorm2d", {"num_features": 3, "affine": True, "eps": 0.01}, [some(2, 3, 2, 2)])
    case("prelu", "PReLU", {}, [some(2, 3)])
    case("prelu-channels", "PReLU", {"num_parameters": 3}, [some(2, 3, 2)])


def transformers():
    layer = {"d_model": 4, "nhead": 2, "dim_feedforward": 6, "dropout": 0.0, "batch_first": True}
    x = some(2, 3, 4)
    padding = torch.tensor([[False, False, False], [False, False, True]])
    causal = torch.ones(3, 3).triu(1).bool()
    for more, options in {
        "": {},
        "-pre": {"norm_first": True},
        "-gelu": {"activation": "gelu", "layer_norm_eps": 0.01},
        "-no-bias": {"bias": False, "norm_first": True},
    }.items():
        case("encoder-layer" + more, "TransformerEncoderLayer", {**layer, **options}, [x])
    case("encoder-layer-padding", "TransformerEncoderLayer", layer, [x], {"src_key_padding_mask": padding})
    case("encoder-layer-causal", "TransformerEncoderLayer", {**layer, "norm_first": True}, [x], {"src_mask": causal})
    case("encoder", "TransformerEncoder", {"layer": layer, "num_layers": 2}, [x])
    case("encoder-norm-padding", "TransformerEncoder", {"layer": {**layer, "norm_first": True}, "num_layers": 2, "norm": True}, [x], {"src_key_padding_mask": padding})


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.linear1 = nn.Linear(8, 16)
        self.linear2 = nn.Linear(16, 8)
        self.norm1 = nn.LayerNorm(8)
        self.norm2 = nn.LayerNorm(8)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y)[0]
        return x + self.linear2(nn.functional.gelu(self.linear1(self.norm2(x))))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_embedding = nn.Embedding(11, 8)
        self.position_embedding = nn.Embedding(5, 8)
        self.layers = nn.ModuleList([EncoderLayer(), EncoderLayer()])
        self.norm = nn.LayerNorm(8)

    def forward(self, tokens):
        x = self.token_embedding(tokens) + self.position_embedding(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolutional = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(4, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        )
        self.encoder = Encoder()
        self.recurrent = nn.LSTM(8, 6, batch_first=True)
        self.classifier = nn.Linear(24 + 8 + 6, 3)

    def forward(self, image, tokens):
        seen, read = self.convolutional(image), self.encoder(tokens)
        last = self.recurrent(read)[1][0][-1]
        return self.classifier(torch.cat([seen, read.mean(1), last], 1)), {"convolutional": seen, "encoder": read, "recurrent": last}


def model():
    model, tokens = Model(), torch.tensor([[3, 0, 10, 7, 3], [1, 2, 2, 9, 5]])
    for name, p in model.named_parameters():
        if ".norm" in name or "bias" in name:
            p.data.add_(torch.randn(p.shape) / 8)
    with torch.no_grad():
        # Batches of training move the running statistics off 0 and 1.
        for _ in range(3):
            model(torch.randn(2, 1, 8, 8) + 0.5, tokens)
        image = some(2, 1, 8, 8).float()
        logits, parts = model.eval()(image, tokens)
    safetensors.torch.save_file(model.state_dict(), HERE / "model.safetensors")
    values = {"image": image, "tokens": tokens, "logits": logits, **parts}
    text = json.dumps({"torch": torch.__version__, **{name: t.tolist() for name, t in values.items()}})
    (HERE / "model.json").write_text(text + "\n")


def save(path):
    """As safetensors.torch.save_file, whose metadata is in another order each time."""
    kinds = {torch.float64: "F64", torch.int64: "I64", torch.bool: "BOOL"}
    # The format wants no gaps, and readers want numbers aligned: bools come last.
    names = sorted(tensors, key=lambda name: (tensors[name].dtype == torch.bool, name))
    header, at, data = {"__metadata__": metadata}, 0, b""
    for name in names:
        bits = np.ascontiguousarray(tensors[name].numpy()).tobytes()
        header[name] = {"dtype": kinds[tensors[name].dtype], "shape": list(tensors[name].shape), "data_offsets": [at, at + len(bits)]}
        at, data = at + len(bits), data + bits
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


if __name__ == "__main__":
    torch.set_num_threads(1)
    # Numbers of their own, so that those of the groups below stay what they are.
    torch.manual_seed(20261128)
    for make in [plain_recurrent, instance_norms, transformers]:
        make()
    torch.manual_seed(20261125)
    for make in [linear_and_embedding, convolutions, norms, attention, recurrent]:
        make()
    save(HERE / "layers.safetensors")
    model()
