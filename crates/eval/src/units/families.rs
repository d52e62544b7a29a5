//! Which candidates are relatives? The connected components of helpful-sibling edges.

use std::collections::BTreeMap;

/// The components of `edges` that have more than one node, each sorted, in order of their first.
///
/// Nodes are any ordered values; one without an edge is in no component.
pub(crate) fn components<T: Ord + Copy>(edges: &[(T, T)]) -> Vec<Vec<T>> {
    // A node's parent; a root is its own. Roots are the least of their component.
    let mut parent: BTreeMap<T, T> = BTreeMap::new();
    for &(a, b) in edges {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent.insert(a.max(b), a.min(b));
    }
    let nodes: Vec<T> = parent.keys().copied().collect();
    let mut members: BTreeMap<T, Vec<T>> = BTreeMap::new();
    for node in nodes {
        members.entry(root(&mut parent, node)).or_default().push(node);
    }
    members.into_values().filter(|component| 1 < component.len()).collect()
}

/// The root of a node, which is added if it is new. Halves the path on the way.
fn root<T: Ord + Copy>(parent: &mut BTreeMap<T, T>, mut node: T) -> T {
    loop {
        let above = *parent.entry(node).or_insert(node);
        if above == node {
            return node;
        }
        let top = *parent.entry(above).or_insert(above);
        parent.insert(node, top);
        node = top;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shared_candidates_merge_families() {
        let edges = [("c", "b"), ("x", "y"), ("a", "b"), ("z", "z")];
        assert_eq!(components(&edges), [vec!["a", "b", "c"], vec!["x", "y"]]);
    }

    proptest! {
        /// The order of edges, and of their ends, is irrelevant.
        #[test]
        fn components_do_not_depend_on_order(mut edges in prop::collection::vec((0u8..30, 0u8..30), 0..40)) {
            let before = components(&edges);
            edges.reverse();
            edges.iter_mut().for_each(|(a, b)| std::mem::swap(a, b));
            prop_assert_eq!(components(&edges), before);
        }
    }
}
