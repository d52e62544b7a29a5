"""Writes the golden outputs of the language models in crates/neural: tiny seeded models of each
architecture, as safetensors and as GGUF, with what transformers computes of them.

    python3 -m venv VENV && VENV/bin/pip install torch transformers accelerate gguf xllamacpp
    VENV/bin/python bench/golden_chat.py
"""

import copy
import json
import shutil

import gguf
import torch
import transformers
from golden_neural import MODELS, OUT, SOME, TEXTS, digits, rounded, seeded, write
from golden_texts import QUERIES
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

CHATML = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
QWEN_WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

# --- templates, each with what the family's own uses of Jinja ------------------------------------

SMOL = "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
QWEN2 = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}
        {{- tool | tojson }}
    {%- endfor %}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""
QWEN3 = """{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if '</think>' in content %}
            {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and reasoning_content %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
"""
GEMMA = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '\n\n' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("Conversation roles must alternate user/assistant/user/assistant/...") }}
    {%- endif -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '\n' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model\n'}}
{%- endif -%}
"""

TALKS = [
    [["user", "Parse a CSV file and sum a column."]],
    [["system", "You rank skills. Größe 数据库 🚀"], ["user", "  deploy the cluster, then roll back  "]],
    [["user", "first"], ["assistant", "<think>\nhm\n</think>\n\nsecond"], ["user", "third\n\n\nline"]],
    [["system", "s"], ["user", "1 22 333 snake_case \u200b zero"], ["assistant", ""], ["user", "word " * 30 + "\n"]],
    [["user", ""]],
]


# --- tokenizers --------------------------------------------------------------------------------

def bytes_of(words, normalizer):
    tok = Tokenizer(models.BPE())
    if normalizer:
        tok.normalizer = normalizer
    tok.pre_tokenizer = words
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=340, special_tokens=CHATML, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return tok


def smol_tok():
    return bytes_of(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]), None)


def qwen_tok(thinking):
    words = [pre_tokenizers.Split(Regex(QWEN_WORDS), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    tok = bytes_of(pre_tokenizers.Sequence(words), normalizers.NFC())
    if thinking:
        tok.add_tokens([AddedToken("<think>", special=False, normalized=False), AddedToken("</think>", special=False, normalized=False)])
    return tok


def gemma_tok():
    tok = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tok.normalizer = normalizers.Replace(" ", "▁")
    tok.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tok.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"]
    plain = [f"<0x{i:02X}>" for i in range(256)]
    tok.train_from_iterator([t.replace(" ", "▁") for t in TEXTS], trainers.BpeTrainer(vocab_size=200, special_tokens=special, limit_alphabet=60, show_progress=False))
    # Bytes are tokens of the model, after the trained ones, and so are runs of line ends.
    stored = json.loads(tok.to_str())
    for token in plain:
        stored["model"]["vocab"].setdefault(token, len(stored["model"]["vocab"]))
    tok = Tokenizer.from_str(json.dumps(stored))
    tok.add_tokens([AddedToken("\n\n", special=False, normalized=False), AddedToken("\n\n\n", special=False, normalized=False)])
    return tok


# --- what the reference computes -------------------------------------------------------------------

def last_logits(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids]), use_cache=False).logits[0, -1].double()


def greedy(model, ids, ends, n=16):
    """Ids up to `n` or the first that ends; the margin of each choice is the reference's own."""
    said, margin = [], float("inf")
    for _ in range(n):
        best = last_logits(model, ids + said).topk(2)
        margin = min(margin, float(best.values[0] - best.values[1]))
        said.append(int(best.indices[0]))
        if said[-1] in ends:
            break
    return said, margin


def yes_no(model, tok, spec):
    ids = lambda text: tok.encode(text, add_special_tokens=False).ids
    layout, rows = spec["layout"], []
    tail = ids(layout["after_document"])
    for query in QUERIES:
        head = layout["before_instruction"] + spec["instruction"] + layout["before_query"] + query + layout["before_document"]
        row = []
        for document in SOME[5:30:2] + SOME[-2:]:
            prompt = ids(head + document)[: spec["max_tokens"] - len(tail)] + tail
            logits = last_logits(model, prompt)
            row.append(float(logits[tok.token_to_id(spec["yes"])] - logits[tok.token_to_id(spec["no"])]))
        rows.append(row)
    return {"spec": spec, "queries": QUERIES, "documents": SOME[5:30:2] + SOME[-2:], "scores": digits(rows)}


def golden(model, tok, fast, ends):
    rows = []
    for talk in TALKS:
        messages = [{"role": role, "content": content} for role, content in talk]
        text = fast.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, enable_thinking=False)
        ids = tok.encode(text, add_special_tokens=False).ids
        said, margin = greedy(model, ids, ends)
        rows.append({"talk": talk, "ids": ids, "logits": digits(last_logits(model, ids)), "said": said, "margin": margin, "text": fast.decode([i for i in said if i not in ends], skip_special_tokens=True, clean_up_tokenization_spaces=False)})
    return rows


def chat_spec(architecture, weights, max_tokens=400):
    return {"architecture": architecture, "weights": weights, "dtype": "f32", "max_tokens": max_tokens, "template": {"from": "model"}, "system": {"form": "as_given"}, "thinking": False}


def model_of(name, architecture, model, tok, template, ends, dtype=torch.float32, bos=None):
    folder = OUT / name
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    model = rounded(model, dtype)
    copy.deepcopy(model).to(dtype).save_pretrained(folder)
    stored = json.loads(tok.to_str())
    # As packaged models have it: a limit and a padding that nobody asked for.
    stored["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    write(folder / "tokenizer.json", stored)
    eos = tok.id_to_token(ends[0])
    config = {"eos_token": eos} | ({"bos_token": bos} if bos else {})
    if architecture == "qwen2":
        config["chat_template"] = template
        config["eos_token"] = {"content": eos, "lstrip": False}
    else:
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    write(folder / "tokenizer_config.json", config)
    (folder / "generation_config.json").unlink(missing_ok=True)
    write(folder / "generation_config.json", {"eos_token_id": ends if 1 < len(ends) else ends[0]})
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(tok.to_str()), eos_token=eos, bos_token=bos, chat_template=template)
    opened = "<start_of_turn>user\n" if architecture == "gemma3" else "<|im_start|>user\n"
    closed = "<end_of_turn>\n<start_of_turn>model\n" if architecture == "gemma3" else "<|im_end|>\n<|im_start|>assistant\n"
    spec = chat_spec(architecture, {"form": "safetensors"})
    layout = {"form": "fixed", "before_instruction": f"{opened}<Instruct>: ", "before_query": "\n<Query>: ", "before_document": "\n<Document>: ", "after_document": closed}
    asked = {"model": spec, "instruction": "Is it the skill?", "layout": layout, "yes": "y", "no": "n", "score": "logit_difference", "max_query_tokens": 80, "max_document_tokens": 300, "max_tokens": 220}
    write(OUT / f"{name}.json", {"spec": spec, "rows": golden(model, tok, fast, ends), "yes_no": yes_no(model, tok, asked)})
    return model, fast


# --- GGUF ----------------------------------------------------------------------------------------

NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}


def gguf_name(name):
    base, end = name.rsplit(".", 1)
    if base.startswith("model.layers."):
        _, _, index, part = base.split(".", 3)
        return f"blk.{index}.{NAMES[part]}.{end}"
    return {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}[base] + f".{end}"


def permuted(weight, heads):
    """The rows of queries and keys as Llama's converters order them: neighbours make pairs."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def write_gguf(name, architecture, pre, model, tok, fast, template, ends, quantised):
    config = model.config
    folder = OUT / name
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    writer = gguf.GGUFWriter(folder / "model.gguf", architecture)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_key_length(dim)
    writer.add_rope_dimension_count(dim)
    stored = json.loads(tok.to_str())
    vocabulary = tok.get_vocab(with_added_tokens=True)
    added = {token["content"]: token["special"] for token in stored["added_tokens"]}
    tokens = sorted(vocabulary, key=vocabulary.get)
    tokens += [f"[PAD{i}]" for i in range(len(tokens), config.vocab_size)]
    kinds = [(3 if added[token] else 4) if token in added else (1 if token in vocabulary else 5) for token in tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(pair) for pair in stored["model"]["merges"]])
    writer.add_eos_token_id(ends[0])
    writer.add_chat_template(template)
    own = copy.deepcopy(model)
    state = own.state_dict()
    for key, tensor in state.items():
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        values = tensor.float().numpy()
        part = key.split("self_attn.")[-1]
        if architecture == "llama" and part.startswith(("q_proj", "k_proj")):
            values = permuted(values, config.num_attention_heads if part[0] == "q" else config.num_key_value_heads)
        if quantised and values.ndim == 2:
            kind = gguf.GGMLQuantizationType.Q8_0
            blocks = gguf.quants.quantize(values, kind)
            writer.add_tensor(gguf_name(key), blocks, raw_dtype=kind)
            whole = torch.from_numpy(gguf.quants.dequantize(gguf.quants.quantize(tensor.float().numpy(), kind), kind))
            with torch.no_grad():
                tensor.copy_(whole)
        else:
            writer.add_tensor(gguf_name(key), values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    spec = chat_spec(architecture, {"form": "gguf", "file": "model.gguf", "matrices": "dequantised"})
    ids = [tok.encode(text, add_special_tokens=False).ids for text in SOME]
    write(OUT / f"{name}.json", {"spec": spec, "rows": golden(own, tok, fast, ends), "ids": ids})


def packaged():
    """SmolLM2 as a package ships it: llama.cpp's tokens and replies, and what torch computes of the dequantised matrices."""
    folder, file = MODELS / "smollm2-135m-instruct", "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not folder.is_dir():
        return
    import urllib.request

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(folder / file)
    params.n_ctx = 512
    params.cpuparams.n_threads = 1
    params.port = 0
    server = xllamacpp.Server(params)

    def ids(text, special):
        body = json.dumps({"content": text, "parse_special": special, "add_special": False}).encode()
        asked = urllib.request.Request(f"{server.listening_address}/tokenize", body, {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(asked))["tokens"]

    def kept(prompt):
        """What llama.cpp says, which rounds activations to 8 bits, and how sure it was at its least sure token."""
        body = json.dumps({"prompt": prompt, "n_predict": 24, "samplers": ["top_k"], "top_k": 1, "n_probs": 2, "return_tokens": True, "cache_prompt": False}).encode()
        asked = urllib.request.Request(f"{server.listening_address}/completion", body, {"Content-Type": "application/json"})
        said = json.load(urllib.request.urlopen(asked))
        tops = [token["top_logprobs"] for token in said["completion_probabilities"]]
        return {"text": said["content"], "margin": min(first["logprob"] - second["logprob"] for first, second in tops)}

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
    rows = []
    for question in ("What is the capital of France?", "Write one sentence about databases.", "Is a hammer a tool? Answer yes or no.", "Repeat: 12345 Größe 数据库"):
        text = f"<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
        prompt = ids(text, True)
        said, margin = greedy(model, prompt, [0, 2], 24)
        rows.append({"question": question, "ids": prompt, "logits": digits(last_logits(model, prompt)[::1000]), "said": said, "margin": margin, "kept": kept(prompt)})
    write(OUT / "smollm2-135m-instruct.json", {"rows": rows, "ids": [ids(text, False) for text in SOME]})


def main():
    base = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=64, max_position_embeddings=512)
    tok = smol_tok()
    llama = transformers.LlamaConfig(**base, vocab_size=tok.get_vocab_size(), rope_theta=100000.0, tie_word_embeddings=True)
    model, fast = model_of("tiny-llama-chat", "llama", seeded(transformers.LlamaForCausalLM(llama), 11), tok, SMOL, [2])
    # Of a GGUF file all tokens that are known to end turns do.
    write_gguf("tiny-llama-gguf", "llama", "smollm", model, tok, fast, SMOL, [2, 0], quantised=True)

    tok = qwen_tok(thinking=False)
    qwen2 = transformers.Qwen2Config(**base, vocab_size=tok.get_vocab_size() + 4, rope_theta=1000000.0, tie_word_embeddings=False)
    model, fast = model_of("tiny-qwen2-chat", "qwen2", seeded(transformers.Qwen2ForCausalLM(qwen2), 12), tok, QWEN2, [2, 0], torch.bfloat16)

    tok = qwen_tok(thinking=True)
    qwen3 = transformers.Qwen3Config(**base, head_dim=16, vocab_size=tok.get_vocab_size() + 2, rope_theta=1000000.0, tie_word_embeddings=True)
    model, fast = model_of("tiny-qwen3-chat", "qwen3", seeded(transformers.Qwen3ForCausalLM(qwen3), 13), tok, QWEN3, [2, 0])
    write_gguf("tiny-qwen3-gguf", "qwen3", "qwen2", model, tok, fast, QWEN3, [2, 0], quantised=False)

    tok = gemma_tok()
    base |= {"num_hidden_layers": 3}
    gemma = transformers.Gemma3TextConfig(**base, head_dim=16, vocab_size=tok.get_vocab_size(), query_pre_attn_scalar=20, sliding_window=24, layer_types=["sliding_attention", "full_attention", "sliding_attention"], rope_parameters={"full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1000000.0}, "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}, pad_token_id=0, eos_token_id=1, bos_token_id=2)
    model_of("tiny-gemma3-chat", "gemma3", seeded(transformers.Gemma3ForCausalLM(gemma), 14), tok, GEMMA, [1, 5], torch.bfloat16, bos="<bos>")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
    packaged()
