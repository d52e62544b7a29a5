//! The text of a structured skill.

use std::{fmt, str::FromStr};

use super::Skill;

/// How a skill becomes the one text that methods score. Limits are in characters.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Template {
    /// `{name}\n{description}\n\n{body}`.
    #[default]
    NameDescBody,
    /// `{name} | {description[:500]} | {body[:8000]}`, as SkillRouter was trained.
    SkillRouter,
    /// `{name} | {description} | {skill_md}`, as SkillRet was trained: the last part is the whole
    /// file, or the body where the file is not known.
    SkillRet,
    /// `{description}`.
    DescOnly,
    /// `{body}`.
    BodyOnly,
    /// `{body}`, for sources that hold one text for each candidate.
    Text,
}

/// A template's name cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a template; expected {names}", names = Template::names())]
pub struct TemplateError(String);

impl Template {
    /// Every template.
    pub const ALL: [Template; 6] = [
        Template::NameDescBody,
        Template::SkillRouter,
        Template::SkillRet,
        Template::DescOnly,
        Template::BodyOnly,
        Template::Text,
    ];

    /// The name, as receipts and options write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Template::NameDescBody => "name_desc_body",
            Template::SkillRouter => "skillrouter",
            Template::SkillRet => "skillret",
            Template::DescOnly => "desc_only",
            Template::BodyOnly => "body_only",
            Template::Text => "text",
        }
    }

    fn names() -> String {
        let names = Template::ALL.map(|template| format!("`{template}`"));
        names.join(", ")
    }
}

/// The text of `skill` under `template`.
pub fn render(template: Template, skill: &Skill) -> String {
    let Skill { name, description, body, skill_md, .. } = skill;
    match template {
        Template::NameDescBody => format!("{name}\n{description}\n\n{body}"),
        Template::SkillRouter => {
            format!("{name} | {} | {}", first(description, 500), first(body, 8000))
        }
        Template::SkillRet => {
            format!("{name} | {description} | {}", skill_md.as_ref().unwrap_or(body))
        }
        Template::DescOnly => description.clone(),
        Template::BodyOnly | Template::Text => body.clone(),
    }
}

/// The first `n` characters.
fn first(text: &str, n: usize) -> &str {
    let end = text.char_indices().nth(n).map_or(text.len(), |(end, _)| end);
    &text[..end]
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(s: &str) -> Result<Template, TemplateError> {
        let known = Template::ALL.into_iter().find(|template| template.as_str() == s);
        known.ok_or_else(|| TemplateError(s.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill() -> Skill {
        Skill { name: "n".into(), description: "d".into(), body: "b".into(), ..Skill::default() }
    }

    #[test]
    fn each_template_has_its_text() {
        let text = |name: &str| render(name.parse().unwrap(), &skill());
        assert_eq!(text("name_desc_body"), "n\nd\n\nb");
        assert_eq!(text("skillrouter"), "n | d | b");
        assert_eq!(text("skillret"), "n | d | b");
        assert_eq!(text("desc_only"), "d");
        assert_eq!(text("body_only"), "b");
        assert_eq!(text("text"), "b");
        let whole = Skill { skill_md: Some("---\n---\nb".into()), ..skill() };
        assert_eq!(render(Template::SkillRet, &whole), "n | d | ---\n---\nb");
    }

    #[test]
    fn limits_count_characters() {
        let long = Skill { description: "ü".repeat(501), body: "😀".repeat(8001), ..skill() };
        let text = render(Template::SkillRouter, &long);
        assert_eq!(text, format!("n | {} | {}", "ü".repeat(500), "😀".repeat(8000)));
        let short = Skill { description: "ü".repeat(500), body: "😀".repeat(8000), ..skill() };
        assert_eq!(render(Template::SkillRouter, &short), text);
    }

    #[test]
    fn an_unknown_template_is_told_the_known_ones() {
        let error = "full".parse::<Template>().unwrap_err().to_string();
        assert_eq!(
            error,
            "`full` is not a template; expected `name_desc_body`, `skillrouter`, `skillret`, \
             `desc_only`, `body_only`, `text`"
        );
    }
}
