//! Language models as accelerators compute them, on the CPU.

use cleanhit_core::{ChatModel, Message, QueryText, Scorer, Speaker};
use cleanhit_neural::{ChatSpec, ChatWeights, LanguageModel, Matrices, YesNo};

use crate::{
    chat::{GGUFS, GREEDY, Golden, MODELS, distance, open, talk},
    support::{golden, refs},
};

fn reference(name: &str, spec: &ChatSpec) -> LanguageModel {
    LanguageModel::open_reference(&golden(name), spec).unwrap()
}

#[test]
fn the_tensors_of_accelerators_give_the_same_logits_and_replies() {
    for name in MODELS.into_iter().chain(GGUFS) {
        let golden = Golden::of(name);
        let model = reference(name, &golden.spec);
        let (mut worst, mut whole) = (0.0f64, 0);
        for row in &golden.rows {
            worst = worst.max(distance(&model.logits(&row.ids).unwrap(), &row.logits));
            if 1e-3 < row.margin {
                whole += 1;
                let reply = model.reply(&talk(&row.talk), &GREEDY).unwrap();
                assert_eq!(reply.text, row.text, "{name} {:?}", row.talk);
                assert_eq!(reply.reply_tokens, row.said.len());
            }
        }
        println!("{name}: largest difference {worst:.1e}; {whole} replies");
        assert!(worst <= 1e-4, "{name}: a logit differs by {worst}");
        assert!(3 <= whole, "{name}");
    }
}

#[test]
fn the_tensors_of_accelerators_read_prompts_longer_than_a_chunk() {
    for name in MODELS {
        let spec = ChatSpec { max_tokens: 512, ..Golden::of(name).spec };
        let ids: Vec<u32> = (0..512).map(|i| 6 + i * 37 % 250).collect();
        let wanted: Vec<f64> =
            open(name, &spec).logits(&ids).unwrap().into_iter().map(f64::from).collect();
        let far = distance(&reference(name, &spec).logits(&ids).unwrap(), &wanted);
        assert!(far <= 1e-4, "{name}: a logit differs by {far}");
    }
}

#[test]
fn the_tensors_of_accelerators_keep_quantised_matrices() {
    let golden = Golden::of("tiny-llama-gguf");
    let weights = ChatWeights::Gguf { file: "model.gguf".to_owned(), matrices: Matrices::Kept };
    let spec = ChatSpec { weights, ..golden.spec };
    let (fused, tensors) = (open("tiny-llama-gguf", &spec), reference("tiny-llama-gguf", &spec));
    for row in &golden.rows {
        let wanted: Vec<f64> = fused.logits(&row.ids).unwrap().into_iter().map(f64::from).collect();
        let logits = tensors.logits(&row.ids).unwrap();
        let most = wanted.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let (far, off) = (distance(&logits, &wanted), distance(&logits, &row.logits));
        println!("kept: {far:.1e} apart, {off:.1e} from dequantised, of {most:.1}");
        // An activation at the border of two steps may be rounded either way.
        assert!(far < 0.02 * most && 0.0 < off, "{far} of {most}");
    }
}

#[test]
fn the_tensors_of_accelerators_give_the_same_scores_in_any_company() {
    for name in MODELS {
        let asked = Golden::of(name).yes_no.unwrap();
        let model = YesNo::open_reference(&golden(name), &asked.spec).unwrap();
        let documents = refs(&asked.documents);
        let mut worst = 0.0f64;
        for (query, wanted) in asked.queries.iter().zip(&asked.scores) {
            let query = QueryText::new(query);
            let got = model.score(query, &documents).unwrap();
            for ((document, got), wanted) in documents.iter().zip(&got).zip(wanted) {
                worst = worst.max((got - wanted).abs());
                let alone = model.score(query, &[document]).unwrap()[0];
                assert_eq!(alone.to_bits(), got.to_bits(), "{name} {document:?}");
            }
        }
        assert!(worst <= 1e-4, "{name}: a score differs by {worst}");
    }
}

#[test]
fn what_was_asked_before_does_not_show_on_accelerators() {
    for name in MODELS.into_iter().chain(GGUFS) {
        let spec = Golden::of(name).spec;
        let user = |text: &str| vec![Message::new(Speaker::User, text)];
        let talks = ["deploy the service behind it", "deploy the service behind that", "sort"];
        let model = reference(name, &spec);
        let first = talks.map(|text| model.reply(&user(text), &GREEDY).unwrap());
        for (text, first) in talks.iter().zip(&first).rev() {
            assert_eq!(&model.reply(&user(text), &GREEDY).unwrap(), first, "{name}");
            assert_eq!(&reference(name, &spec).reply(&user(text), &GREEDY).unwrap(), first);
        }
    }
}
