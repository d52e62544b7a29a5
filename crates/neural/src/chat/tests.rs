//! What engines keep of a prompt: two continuations of it, and what was read before.

use std::path::PathBuf;

use serde::Deserialize;

use super::{ChatSpec, ChatWeights, LanguageModel, Matrices, Reading};
use crate::Device;

const MODELS: [&str; 6] = [
    "tiny-llama-chat",
    "tiny-qwen2-chat",
    "tiny-qwen3-chat",
    "tiny-gemma3-chat",
    "tiny-llama-gguf",
    "tiny-qwen3-gguf",
];

#[derive(Deserialize)]
struct Golden {
    spec: ChatSpec,
}

fn golden(name: &str) -> (PathBuf, ChatSpec) {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let json = std::fs::read(dir.join(format!("{name}.json"))).unwrap();
    (dir.join(name), serde_json::from_slice::<Golden>(&json).unwrap().spec)
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn continuations_of_a_prefix_do_not_see_each_other() {
    // Longer than the window of the tiny gemma.
    let ids: Vec<u32> = (0..70).map(|i| 6 + i * 37 % 250).collect();
    let continuations: [&[u32]; 3] = [&[9, 8, 7, 200], &[100], &[9, 8, 7, 201]];
    for name in MODELS {
        let (dir, spec) = golden(name);
        let mut engines = vec![
            LanguageModel::open(&dir, &spec, &Device::cpu()).unwrap(),
            LanguageModel::open_reference(&dir, &spec).unwrap(),
        ];
        if let ChatWeights::Gguf { file, .. } = &spec.weights {
            let weights = ChatWeights::Gguf { file: file.clone(), matrices: Matrices::Kept };
            let spec = ChatSpec { weights, ..spec.clone() };
            engines.push(LanguageModel::open(&dir, &spec, &Device::cpu()).unwrap());
        }
        for model in &engines {
            for kept in [1, 23, 24, 50, 70] {
                let mut before = model.nothing();
                model.read(before.as_mut(), &ids).unwrap();
                let after = |before: &dyn Reading, next: &[u32]| {
                    let mut past = before.first(kept).unwrap();
                    assert_eq!(past.tokens(), kept);
                    model.read(past.as_mut(), next).unwrap()
                };
                let first = continuations.map(|next| after(before.as_ref(), next));
                // The prefix itself goes on, and then all again the other way round.
                model.read(before.as_mut(), &[30, 31, 32]).unwrap();
                for (next, first) in continuations.iter().zip(&first).rev() {
                    assert_eq!(bits(&after(before.as_ref(), next)), bits(first), "{name} {kept}");
                    let whole = [&ids[..kept], next].concat();
                    let whole = model.logits(&whole).unwrap();
                    match model.exact() {
                        true => assert_eq!(bits(&whole), bits(first), "{name} {kept}"),
                        false => {
                            let pairs = whole.iter().zip(first);
                            let far = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                            assert!(far <= 1e-4, "{name} {kept}: {far}");
                        }
                    }
                }
                assert_ne!(first[0], first[2], "{name}");
            }
        }
        assert!(engines[0].exact() && !engines[1].exact());
        assert_ne!(engines[0].digest(), engines[1].digest());
    }
}
