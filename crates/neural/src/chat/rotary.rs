//! Rotary positions of language models: how fast each pair turns, and which layers see how far.

use serde_json::Value;

use super::plan::LayerPlan;
use crate::{error::NeuralError, snapshot::Config};

/// Radians for each position: `[dim / 2]`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "rounded to f32 as in the reference"
)]
pub(super) fn speeds(base: f64, dim: usize) -> Vec<f32> {
    (0..dim).step_by(2).map(|i| 1.0 / libm::pow(base, i as f64 / dim as f64) as f32).collect()
}

/// The speeds that a `config.json` states, in the newer form of one object or the older of
/// several fields; `kind` is a kind of layers that has its own.
///
/// # Errors
///
/// If the base is missing, or positions are scaled in a way that is not computed.
pub(super) fn of_config(
    config: &Config,
    kind: Option<&str>,
    dim: usize,
) -> Result<Vec<f32>, NeuralError> {
    let near = kind == Some("sliding_attention");
    let (base, scaling) = match config.object("rope_parameters")? {
        Some(parameters) => {
            let own = match kind {
                Some(kind) => parameters.object(kind)?,
                None => None,
            };
            let own = own.unwrap_or(parameters);
            (own.positive("rope_theta")?, Some(own))
        }
        None if near => (config.positive("rope_local_base_freq")?, None),
        None => (config.positive("rope_theta")?, config.object("rope_scaling")?),
    };
    let mut speeds = speeds(base, dim);
    let Some(scaling) = scaling else { return Ok(speeds) };
    let field = if scaling.value("type").is_some() { "type" } else { "rope_type" };
    match scaling.text(field)? {
        None | Some("default") => {}
        Some("linear") => {
            let factor = scaling.positive("factor")?;
            speeds.iter_mut().for_each(|speed| *speed = single(f64::from(*speed) / factor));
        }
        Some("llama3") => {
            let stretch = Stretch {
                factor: scaling.positive("factor")?,
                low: scaling.positive("low_freq_factor")?,
                high: scaling.positive("high_freq_factor")?,
                context: scaling.positive("original_max_position_embeddings")?,
            };
            if stretch.high <= stretch.low {
                return Err(scaling.wrong("high_freq_factor", "more than `low_freq_factor`"));
            }
            speeds.iter_mut().for_each(|speed| *speed = stretch.of(*speed));
        }
        Some(_) => return Err(scaling.wrong(field, "`default`, `linear` or `llama3`")),
    }
    Ok(speeds)
}

/// Llama 3's scaling: slow pairs are slowed down, fast ones stay, and between is a slope.
struct Stretch {
    factor: f64,
    low: f64,
    high: f64,
    context: f64,
}

impl Stretch {
    fn of(&self, speed: f32) -> f32 {
        let speed = f64::from(speed);
        let length = 2.0 * std::f64::consts::PI / speed;
        if length < self.context / self.high {
            return single(speed);
        }
        if self.context / self.low < length {
            return single(speed / self.factor);
        }
        let smooth = (self.context / length - self.low) / (self.high - self.low);
        single((1.0 - smooth) * speed / self.factor + smooth * speed)
    }
}

/// What each layer sees. Only Gemma's layers differ: `layer_types` names them, or every
/// `sliding_window_pattern`th, by default every sixth, sees all.
///
/// # Errors
///
/// If a kind is unknown, or there are as many kinds as layers not.
pub(super) fn windows(
    config: &Config,
    layers: usize,
    gemma: bool,
) -> Result<Vec<LayerPlan>, NeuralError> {
    const ALL: LayerPlan = LayerPlan { window: None, rotary: 0 };
    if !gemma {
        config.only_flag("use_sliding_window", false)?;
        return Ok(vec![ALL; layers]);
    }
    let near = LayerPlan { window: Some(config.size("sliding_window")?), rotary: 1 };
    match config.value("layer_types") {
        Some(Value::Array(kinds)) if kinds.len() == layers => kinds
            .iter()
            .map(|kind| match kind.as_str() {
                Some("full_attention") => Ok(ALL),
                Some("sliding_attention") => Ok(near),
                _ => Err(config.wrong("layer_types", "full_attention and sliding_attention")),
            })
            .collect(),
        Some(_) => Err(config.wrong("layer_types", &format!("a list of {layers}"))),
        None => {
            let pattern = config.size_if("sliding_window_pattern")?.unwrap_or(6);
            Ok((1..=layers).map(|n| if n.is_multiple_of(pattern) { ALL } else { near }).collect())
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounded to f32 on purpose")]
fn single(x: f64) -> f32 {
    x as f32
}
