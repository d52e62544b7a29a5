//! A method's information setting, as cards and as the leaderboard write it.

use std::{fmt, str::FromStr};

use cleanhit_core::{
    BenchmarkTrained, Diagnostic, OtherDeclared, ReleasedFamily, Setting, TextCluster, TextOnly,
};

/// What a method may know besides text, where files name it. In code it is a type:
/// [`cleanhit_core::Setting`].
///
/// Ordered as the leaderboard's blocks are.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum InformationSetting {
    /// Texts only.
    PublicTextOnly,
    /// Texts, and families clustered from them.
    PublicTextCluster,
    /// The benchmark's family relation is disclosed.
    ReleasedFamily,
    /// Trained on the benchmark's labels.
    BenchmarkTrained,
    /// Declared by the submission.
    OtherDeclared,
    /// A diagnostic: shown, never ranked.
    Diagnostic,
}

/// A name that no setting has.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not an information setting; expected {expected}", expected = InformationSetting::expected())]
pub struct SettingError(String);

impl InformationSetting {
    /// All of them, in the leaderboard's order.
    pub const ALL: [InformationSetting; 6] = [
        InformationSetting::PublicTextOnly,
        InformationSetting::PublicTextCluster,
        InformationSetting::ReleasedFamily,
        InformationSetting::BenchmarkTrained,
        InformationSetting::OtherDeclared,
        InformationSetting::Diagnostic,
    ];

    /// The setting of a type.
    pub fn of<S: Setting>() -> InformationSetting {
        let found = InformationSetting::ALL.into_iter().find(|setting| setting.card() == S::NAME);
        found.unwrap_or(InformationSetting::OtherDeclared)
    }

    /// As method cards write it.
    pub fn card(self) -> &'static str {
        self.names().0
    }

    /// As the leaderboard writes it.
    pub fn leaderboard(self) -> &'static str {
        self.names().1
    }

    /// Whether its rows are ranked.
    pub fn is_ranked(self) -> bool {
        self != InformationSetting::Diagnostic
    }

    pub(super) fn expected() -> String {
        InformationSetting::ALL.map(|setting| format!("`{}`", setting.card())).join(", ")
    }

    fn names(self) -> (&'static str, &'static str) {
        fn names<S: Setting>() -> (&'static str, &'static str) {
            (S::NAME, S::LEADERBOARD)
        }
        match self {
            InformationSetting::PublicTextOnly => names::<TextOnly>(),
            InformationSetting::PublicTextCluster => names::<TextCluster>(),
            InformationSetting::ReleasedFamily => names::<ReleasedFamily>(),
            InformationSetting::BenchmarkTrained => names::<BenchmarkTrained>(),
            InformationSetting::OtherDeclared => names::<OtherDeclared>(),
            InformationSetting::Diagnostic => names::<Diagnostic>(),
        }
    }
}

impl fmt::Display for InformationSetting {
    /// As cards write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.card())
    }
}

impl FromStr for InformationSetting {
    type Err = SettingError;

    /// Either of a setting's two names.
    fn from_str(s: &str) -> Result<InformationSetting, SettingError> {
        let named =
            |setting: &InformationSetting| [setting.card(), setting.leaderboard()].contains(&s);
        let found = InformationSetting::ALL.into_iter().find(named);
        found.ok_or_else(|| SettingError(s.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_names_of_a_setting_are_read() {
        for setting in InformationSetting::ALL {
            assert_eq!(setting.card().parse(), Ok(setting));
            assert_eq!(setting.leaderboard().parse(), Ok(setting));
        }
        assert_eq!(InformationSetting::ReleasedFamily.leaderboard(), "released_family_control");
        assert_eq!(InformationSetting::ReleasedFamily.card(), "released_family");
        assert_eq!(
            InformationSetting::of::<BenchmarkTrained>(),
            InformationSetting::BenchmarkTrained
        );
        let error = "text".parse::<InformationSetting>().unwrap_err().to_string();
        assert!(
            error.starts_with("`text` is not an information setting; expected `public"),
            "{error}"
        );
    }
}
