//! A method's folder: what its files say of themselves.

use std::path::Path;

use cleanhit_core::Depth;
use cleanhit_eval::files::{InformationSetting, MethodCard};
use cleanhit_io::{Expect, InputError, read_regular};

use crate::{
    cards,
    ranking::{DEEP_FILE, STOCK_FILE},
    receipt::{self, Receipt},
};

/// The files of a method's folder that others are made from.
pub(crate) const FILES: [&str; 6] =
    ["method_card.json", "receipt.json", "metrics.json", "intervals.json", STOCK_FILE, DEEP_FILE];

/// A method's folder.
pub(crate) struct MethodFolder<'a> {
    pub(crate) path: &'a Path,
    /// The rank file's name.
    pub(crate) ranks: String,
    /// How deep the rank file is, where that is known.
    pub(crate) depth: Option<Depth>,
    /// The receipt and its text, where it can be read.
    pub(crate) receipt: Option<(Receipt, String)>,
}

impl<'a> MethodFolder<'a> {
    /// Notes in `errors` what is wrong with the receipt. A card that can't be read is left to
    /// who reads the card.
    pub(crate) fn read(path: &'a Path, errors: &mut Vec<InputError>) -> MethodFolder<'a> {
        let receipt = receipt::read(path).transpose().unwrap_or_else(|error| {
            errors.push(error);
            None
        });
        let card = path.join("method_card.json");
        let named = read_regular(&card).ok().and_then(|bytes| {
            Some(MethodCard::read(&card.display().to_string(), &bytes).ok()?.rank_file)
        });
        let there = |name: &&str| path.join(name).is_file();
        let first = || [STOCK_FILE, DEEP_FILE].into_iter().find(there).unwrap_or(STOCK_FILE);
        let ranks = named.unwrap_or_else(|| first().to_owned());
        // A file of any other name is a submission's.
        let depth = match (ranks == DEEP_FILE, &receipt) {
            (false, _) => Some(Depth::of_len(20)),
            (true, Some((receipt, _))) => Some(Depth(receipt.settings.depth)),
            (true, None) => None,
        };
        MethodFolder { path, ranks, depth, receipt }
    }

    /// How many rows a query must have.
    pub(crate) fn rows(&self) -> Expect {
        match self.depth {
            Some(depth) if !self.is_slice() => Expect::Depth(depth),
            _ => Expect::Any,
        }
    }

    /// Whether the receipt names the queries that were answered: not all there are.
    pub(crate) fn is_slice(&self) -> bool {
        self.receipt.as_ref().is_some_and(|(receipt, _)| receipt.settings.only.is_some())
    }

    /// What is wrong with the setting that the card states: it is that of the receipt's method.
    /// Without a receipt the setting is declared, and only that of a bundled method which knows
    /// more than text is known better.
    pub(crate) fn setting_error(&self, card: &MethodCard) -> Option<InputError> {
        let known = match &self.receipt {
            Some((receipt, _)) => receipt.method_card().ok()?.setting().ok(),
            None => known_setting(&card.method_id),
        }?;
        (card.setting() != Some(known)).then(|| {
            let file = self.path.join("method_card.json");
            let problem = format!("is `{}`", card.information_setting);
            let error = InputError::new(file.display(), problem).field("information_setting");
            let known = known.card();
            error.expected(format!("`{known}`, the setting of method `{}`", card.method_id))
        })
    }
}

/// The setting of a bundled method that knows more than text, or is followed by the released
/// families.
fn known_setting(method_id: &str) -> Option<InformationSetting> {
    let bundled = cards::MethodCard::bundled(method_id).and_then(|card| card.setting().ok());
    let released =
        || method_id.ends_with("+released").then_some(InformationSetting::ReleasedFamily);
    bundled.or_else(released).filter(|&setting| setting != InformationSetting::PublicTextOnly)
}
