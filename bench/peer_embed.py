"""The peers' side of `embed.py`: one embedding job in ONNX Runtime or sentence-transformers.

    peer_embed.py onnx|st MODEL_DIR TEXTS.jsonl MAX_TOKENS THREADS BATCH ROUNDS OUT.f32 [MODEL.onnx]
    peer_embed.py export MODEL_DIR MODEL.onnx

Prints one line of JSON: seconds and CPU seconds of each round.
"""

import json
import resource
import sys
import time

import numpy as np


def export(model_dir, path):
    """The encoder as an ONNX graph with ONNX Runtime's fused attention, GELU and norms."""
    import torch
    from onnxruntime.transformers import optimizer
    from onnxruntime.transformers.fusion_options import FusionOptions
    from transformers import AutoModel

    model = AutoModel.from_pretrained(model_dir, attn_implementation="eager").eval()

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).last_hidden_state

    names = ["input_ids", "attention_mask", "token_type_ids"]
    sample = {name: torch.ones((2, 16), dtype=torch.int64) for name in names}
    axes = {name: {0: "batch", 1: "tokens"} for name in [*names, "last_hidden_state"]}
    torch.onnx.export(Plain(), tuple(sample[name] for name in names), path, input_names=names, output_names=["last_hidden_state"], dynamic_axes=axes, opset_version=17, dynamo=False)
    fused = optimizer.optimize_model(path, model_type="bert", num_heads=model.config.num_attention_heads, hidden_size=model.config.hidden_size, optimization_options=FusionOptions("bert"), opt_level=1)
    fused.save_model_to_file(path)
    print(json.dumps({"fused": fused.get_fused_operator_statistics()}))


def onnx(model_dir, threads, max_tokens, path):
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{model_dir}/tokenizer.json")
    tokenizer.enable_truncation(max_length=max_tokens)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    wanted = {node.name for node in session.get_inputs()}

    def run(texts, batch):
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        encodings = tokenizer_batches(tokenizer, texts, order, batch)
        out = np.zeros((len(texts), 384), np.float32)
        for some, encoded in encodings:
            mask = np.array([e.attention_mask for e in encoded], np.int64)
            feed = {"input_ids": np.array([e.ids for e in encoded], np.int64), "attention_mask": mask, "token_type_ids": np.array([e.type_ids for e in encoded], np.int64)}
            states = session.run(None, {name: value for name, value in feed.items() if name in wanted})[0]
            pooled = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            out[some] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return out

    return run


def tokenizer_batches(tokenizer, texts, order, batch):
    """Tokenizes all, then batches by falling number of tokens: as little padding as there can be."""
    tokenizer.no_padding()
    encoded = tokenizer.encode_batch_fast([texts[i] for i in order])
    ranked = sorted(range(len(order)), key=lambda k: -len(encoded[k].ids))
    for start in range(0, len(ranked), batch):
        some = ranked[start : start + batch]
        longest = max(len(encoded[k].ids) for k in some)
        for k in some:
            encoded[k].pad(longest)
        yield [order[k] for k in some], [encoded[k] for k in some]


def st(model_dir, threads, max_tokens, _):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    model = SentenceTransformer(model_dir, device="cpu")
    model.max_seq_length = max_tokens
    return lambda texts, batch: model.encode(texts, batch_size=batch, show_progress_bar=False)


def main():
    if sys.argv[1] == "export":
        return export(*sys.argv[2:])
    kind, model_dir, source, max_tokens, threads, batch, rounds, out, *path = sys.argv[1:]
    with open(source, encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    run = {"onnx": onnx, "st": st}[kind](model_dir, int(threads), int(max_tokens), path[0] if path else None)
    run(texts[:8], int(batch))
    seconds, cpu = [], []
    for _ in range(int(rounds)):
        start, used = time.perf_counter(), cpu_seconds()
        vectors = run(texts, int(batch))
        seconds.append(time.perf_counter() - start)
        cpu.append(cpu_seconds() - used)
    np.asarray(vectors, np.float32).tofile(out)
    print(json.dumps({"seconds": seconds, "cpu": cpu}))


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
