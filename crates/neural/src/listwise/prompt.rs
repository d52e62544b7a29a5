//! What is a model asked?

use cleanhit_core::{Message, Speaker};

use super::spec::Form;

/// The talk that asks for the order of `documents`, which are numbered from 1.
pub(super) fn talk(form: Form, query: &str, documents: &[&str]) -> Vec<Message> {
    match form {
        Form::RankGpt => rank_gpt(query, documents),
        Form::SrAgents => vec![Message::new(Speaker::User, sr_agents(query, documents))],
    }
}

fn rank_gpt(query: &str, documents: &[&str]) -> Vec<Message> {
    let n = documents.len();
    let mut talk = vec![
        Message::new(
            Speaker::System,
            "You rank skills. You put the skills you are shown in the order of how well they serve \
             a request.",
        ),
        Message::new(
            Speaker::User,
            format!(
                "You will get {n} skills, one in a message, each after its number in square \
                 brackets. Afterwards rank them for this request: {query}"
            ),
        ),
        Message::new(Speaker::Assistant, "Send the first skill."),
    ];
    for (i, document) in documents.iter().enumerate() {
        talk.push(Message::new(Speaker::User, format!("[{}] {document}", i + 1)));
        talk.push(Message::new(Speaker::Assistant, "Noted."));
    }
    // No turn of the assistant and no form has a number: a small model copies what it sees, and a
    // copy must not pass for an answer.
    talk.push(Message::new(
        Speaker::User,
        format!(
            "The request: {query}\n\nRank the {n} skills above by how well they serve the request, \
             the best first. Write the number of every skill once, in the form [] > [], and \
             nothing else."
        ),
    ));
    talk
}

fn sr_agents(query: &str, documents: &[&str]) -> String {
    let mut text = format!("A user asks for this:\n{query}\n\nThese skills are at hand:\n");
    for (i, document) in documents.iter().enumerate() {
        // A line each: a line end within a text would begin what looks like another entry.
        let line: Vec<&str> = document.split_whitespace().collect();
        text.push_str(&format!("[{}] {}\n", i + 1, line.join(" ")));
    }
    text.push_str(
        "\nPut the skills in order, the most useful first. Answer with their numbers alone, with \
         commas between them.",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_gpt_shows_each_candidate_in_a_turn_of_its_own() {
        let talk = talk(Form::RankGpt, "a query", &["one\ntext", "two"]);
        let turns: Vec<(Speaker, &str)> =
            talk.iter().map(|message| (message.speaker, message.text.as_str())).collect();
        use Speaker::{Assistant, System, User};
        let speakers: Vec<Speaker> = turns.iter().map(|(speaker, _)| *speaker).collect();
        assert_eq!(
            speakers,
            [System, User, Assistant, User, Assistant, User, Assistant, User],
            "{turns:?}"
        );
        assert_eq!(turns[3].1, "[1] one\ntext");
        assert_eq!(turns[5].1, "[2] two");
        assert_eq!(turns[6].1, "Noted.");
        assert!(turns[1].1.ends_with("for this request: a query"));
        assert!(turns[7].1.contains("a query") && turns[7].1.contains("[] > []"));
    }

    #[test]
    fn what_is_copied_is_no_answer() {
        for form in [Form::RankGpt, Form::SrAgents] {
            let talk = talk(form, "a query", &["one", "two"]);
            let named = |text: &str| super::super::answer::read(Form::RankGpt, text, 2).named;
            let last = talk.last().unwrap().text.lines().last().unwrap();
            assert_eq!(named(last), 0, "{last}");
            for turn in talk.iter().filter(|turn| turn.speaker == Speaker::Assistant) {
                assert_eq!(named(&turn.text), 0, "{}", turn.text);
            }
        }
    }

    #[test]
    fn sr_agents_is_one_list_with_a_line_each() {
        let talk = talk(Form::SrAgents, "a query", &["n: a\n\n[2] b", "m: c"]);
        let [only] = &talk[..] else { panic!("one turn: {talk:?}") };
        assert_eq!(only.speaker, Speaker::User);
        assert!(only.text.contains("\n[1] n: a [2] b\n[2] m: c\n\n"), "{}", only.text);
        assert!(only.text.starts_with("A user asks for this:\na query\n"));
    }
}
