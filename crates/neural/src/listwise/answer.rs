//! What order does a reply state?

use super::spec::Form;

/// A reply, read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Answer {
    /// Places of the candidates shown, best first: a permutation. What the reply omits follows
    /// in the order it was shown in.
    pub(super) order: Vec<usize>,
    /// Candidates that the reply names.
    pub(super) named: usize,
    /// Numbers that were there before.
    pub(super) repeats: usize,
    /// Numbers of no candidate.
    pub(super) unknown: usize,
}

impl Answer {
    /// Candidates that the reply leaves out.
    pub(super) fn omitted(&self) -> usize {
        self.order.len() - self.named
    }

    /// Whether at least half of the candidates are named.
    pub(super) fn is_enough(&self) -> bool {
        self.order.len() <= 2 * self.named
    }
}

/// Reads the order of `n` candidates, numbered from 1, from a reply. Any text is a reply.
///
/// In RankGPT's form the numbers are those in square brackets, in SR-Agents' form all. A thought
/// before the reply is passed over, and one without an end is no answer.
pub(super) fn read(form: Form, reply: &str, n: usize) -> Answer {
    let reply = without_thought(reply);
    let numbers = match form {
        Form::RankGpt => bracketed(reply),
        Form::SrAgents => reply.split(|c: char| !c.is_ascii_digit()).collect(),
    };
    let mut seen = vec![false; n];
    let mut answer = Answer { order: Vec::with_capacity(n), named: 0, repeats: 0, unknown: 0 };
    for number in numbers.into_iter().filter(|digits| !digits.is_empty()) {
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        match place.and_then(|place| Some((place, seen.get_mut(place)?))) {
            None => answer.unknown += 1,
            Some((_, true)) => answer.repeats += 1,
            Some((place, seen)) => {
                *seen = true;
                answer.order.push(place);
            }
        }
    }
    answer.named = answer.order.len();
    answer.order.extend((0..n).filter(|&place| !seen[place]));
    answer
}

/// What follows a thought that the reply begins with.
fn without_thought(reply: &str) -> &str {
    match reply.trim_start().strip_prefix("<think>") {
        None => reply,
        Some(thought) => thought.split_once("</think>").map_or("", |(_, reply)| reply),
    }
}

/// The digits of each `[digits]`, in order.
fn bracketed(reply: &str) -> Vec<&str> {
    let parts = reply.split('[').skip(1);
    let inner = parts.filter_map(|part| Some(part.split_once(']')?.0));
    inner.filter(|digits| digits.bytes().all(|b| b.is_ascii_digit())).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(form: Form, reply: &str, n: usize, order: &[usize], counts: [usize; 4]) {
        let answer = read(form, reply, n);
        assert_eq!(answer.order, order, "{reply:?}");
        let got = [answer.named, answer.repeats, answer.unknown, answer.omitted()];
        assert_eq!(got, counts, "{reply:?}: named, repeats, unknown, omitted");
    }

    #[test]
    fn answers_of_the_rank_gpt_form() {
        let check = |reply, order: [usize; 3], counts| {
            check(Form::RankGpt, reply, 3, &order, counts);
        };
        check("[2]", [1, 0, 2], [1, 0, 0, 2]);
        check("[2]>[2]>[9]", [1, 0, 2], [1, 1, 1, 2]);
        check("", [0, 1, 2], [0, 0, 0, 3]);
        check("[3] > [1] > [2] because [3] is best", [2, 0, 1], [3, 1, 0, 0]);
        check("{\"order\":[1]}", [0, 1, 2], [1, 0, 0, 2]);
        check("{\"order\":[3,1]}", [0, 1, 2], [0, 0, 0, 3]);
        check("3 > 1 > 2", [0, 1, 2], [0, 0, 0, 3]);
        check("[] > []", [0, 1, 2], [0, 0, 0, 3]);
        check("[0] > [99999999999999999999999] > [-1] > [02]", [1, 0, 2], [1, 0, 2, 2]);
        check("[[2]] > [3", [1, 0, 2], [1, 0, 0, 2]);
        check("[①] > [３]", [0, 1, 2], [0, 0, 0, 3]);
    }

    #[test]
    fn answers_of_the_sr_agents_form() {
        let check = |reply, order: [usize; 4], counts| {
            check(Form::SrAgents, reply, 4, &order, counts);
        };
        check("3, 1, 2, 4", [2, 0, 1, 3], [4, 0, 0, 0]);
        check("[3], [1]", [2, 0, 1, 3], [2, 0, 0, 2]);
        check("none", [0, 1, 2, 3], [0, 0, 0, 4]);
        check("12, 2, 2", [1, 0, 2, 3], [1, 1, 1, 3]);
    }

    #[test]
    fn a_thought_is_no_answer() {
        let order = |reply| read(Form::RankGpt, reply, 2).order;
        assert_eq!(order("<think>[1] or [2]?</think>\n[2] > [1]"), [1, 0]);
        assert_eq!(read(Form::SrAgents, "\n<think>\n2, 1 and so", 2).named, 0);
    }

    #[test]
    fn half_is_enough() {
        let enough = |reply, n| read(Form::SrAgents, reply, n).is_enough();
        assert!(enough("1, 2", 4) && enough("1, 2, 3", 5));
        assert!(!enough("1", 4) && !enough("1, 2", 5) && !enough("", 2));
    }

    proptest! {
        /// Whatever is replied, every candidate has one place.
        #[test]
        fn an_answer_is_a_permutation(reply in "([\\[\\]> ,0-9a-zé]|<think>|</think>){0,60}", n in 0usize..25) {
            for form in [Form::RankGpt, Form::SrAgents] {
                let answer = read(form, &reply, n);
                let mut order = answer.order.clone();
                order.sort_unstable();
                prop_assert_eq!(order, (0..n).collect::<Vec<_>>());
                prop_assert!(answer.order[answer.named..].is_sorted());
            }
        }
    }
}
