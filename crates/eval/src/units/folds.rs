//! Into which fold does each held-out single unit fall?

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::{
    taxonomy::{ConflictType, Split, Stratum},
    unit::Unit,
};

/// The fold of each lineage group of held-out single units, from 0. Others have none.
///
/// Groups are dealt whole: the largest first, equal sizes in the order of a seeded hash of their
/// names; each goes to the fold with the fewest units, then with the fewest units of the group's
/// types, then to the first such fold.
pub(crate) fn folds(units: &[Unit], n_folds: u32, seed: u64) -> BTreeMap<&str, u32> {
    let mut groups: BTreeMap<&str, Vec<ConflictType>> = BTreeMap::new();
    for unit in units {
        if (unit.stratum, unit.split) == (Stratum::Single, Split::Heldout) {
            groups.entry(&unit.lineage_group).or_default().push(unit.conflict_type);
        }
    }
    let mut order: Vec<(&str, Vec<ConflictType>)> = groups.into_iter().collect();
    order.sort_by_cached_key(|(group, types)| (usize::MAX - types.len(), key(seed, group)));
    let mut dealt: Vec<Vec<ConflictType>> = (0..n_folds).map(|_| Vec::new()).collect();
    let mut folds = BTreeMap::new();
    for (group, types) in order {
        let cost = |(_, held): &(u32, &mut Vec<ConflictType>)| {
            let same = held.iter().filter(|t| types.contains(t)).count();
            (held.len(), same)
        };
        if let Some((fold, held)) = (0u32..).zip(&mut dealt).min_by_key(cost) {
            held.extend(types);
            folds.insert(group, fold);
        }
    }
    folds
}

fn key(seed: u64, group: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"cleanhit fold 1\0");
    hash.update(seed.to_be_bytes());
    hash.update(group.as_bytes());
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing;

    #[test]
    fn groups_stay_whole_and_folds_are_even() {
        let base = testing::single("unit-x");
        let mut units = Vec::new();
        for i in 0..23 {
            let mut unit = base.clone();
            unit.lineage_group = format!("group-{}", i % 11);
            units.push(unit);
        }
        let mut development = base.clone();
        development.lineage_group = "apart".to_owned();
        development.split = Split::Development;
        units.push(development);
        let found = folds(&units, 5, 1);
        assert_eq!(found.len(), 11);
        assert!(!found.contains_key("apart"));
        let mut sizes = [0; 5];
        for unit in &units[..23] {
            sizes[found[unit.lineage_group.as_str()] as usize] += 1;
        }
        assert!(sizes.iter().all(|size| (4..=6).contains(size)), "{sizes:?}");
        let mut reversed = units.clone();
        reversed.reverse();
        assert_eq!(folds(&reversed, 5, 1), found);
        assert_ne!(folds(&units, 5, 2), found);
    }
}
