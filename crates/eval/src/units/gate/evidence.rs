//! Was the evidence accepted for the text as it stands?

use cleanhit_io::counted;

use super::Check;
use crate::units::{authoring::Authoring, bind::evidence_sha256, taxonomy::Side, unit::Kind};

/// The evidence binds the current texts, and what is to run has code on both sides.
pub fn evidence(authoring: &Authoring) -> Check {
    let mut out = Vec::new();
    let (mut bound, mut runnable) = (0, 0);
    for unit in &authoring.units {
        let why = match &unit.evidence.binds {
            Some(hash) if *hash == evidence_sha256(unit) => {
                bound += 1;
                None
            }
            Some(_) => Some("text changed since it was accepted; re-read the unit"),
            None => Some("nobody has accepted this text; read the unit"),
        };
        if let Some(why) = why {
            let problem = format!(
                "evidence does not bind: {why} and run `cleanhit bench bind {}`",
                unit.file
            );
            out.push(unit.error("evidence.binds", problem));
        }
        if unit.evidence.kind == Kind::Runnable {
            runnable += 1;
            for &side in Side::ALL {
                if unit.skill(side).python().is_none() {
                    let field = format!("{side}.body");
                    let error = unit.error(&field, "has no python block for the evidence to run");
                    out.push(error.expected("a fenced block that starts with ```python"));
                }
            }
        }
    }
    let units = counted(authoring.units.len(), "unit");
    let detail = format!("{bound} of {units} bound, {runnable} runnable");
    Check::new("evidence", detail, out)
}
