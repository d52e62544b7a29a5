//! Is the background fit to stand beside the units?

use cleanhit_io::counted;

use super::Check;
use crate::units::authoring::Authoring;

/// Nothing is odd about a background skill: it has front matter, the name of its folder, a
/// description, a body, LF line ends.
///
/// That none repeats another or a unit's skill is [`duplicates`](super::duplicates)'.
pub fn background(authoring: &Authoring) -> Check {
    let odd = authoring.background.iter().flat_map(|skill| skill.odd.clone());
    Check::new("background", counted(authoring.background.len(), "skill"), odd.collect())
}
