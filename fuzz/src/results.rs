//! The files that results are published in. What a reader takes, its writer writes back.

use std::fmt::Debug;

use cleanhit_eval::files::{AdapterReceipt, IntervalsFile, Leaderboard, MethodCard, MetricsFile};

use super::{taken, taken_one};

const NAME: &str = "f";

/// `method_card.json`.
pub fn method_card(bytes: &[u8]) -> bool {
    round(bytes, |bytes| taken(MethodCard::read(NAME, bytes)), MethodCard::write)
}

/// `metrics.json`.
pub fn metrics(bytes: &[u8]) -> bool {
    round(bytes, |bytes| taken_one(MetricsFile::read(NAME, bytes)), MetricsFile::write)
}

/// `intervals.json`.
pub fn intervals(bytes: &[u8]) -> bool {
    round(bytes, |bytes| taken_one(IntervalsFile::read(NAME, bytes)), IntervalsFile::write)
}

/// `adapter_receipt.json`.
pub fn adapter_receipt(bytes: &[u8]) -> bool {
    round(bytes, |bytes| taken_one(AdapterReceipt::read(NAME, bytes)), AdapterReceipt::write)
}

/// `leaderboard.tsv`.
pub fn leaderboard(bytes: &[u8]) -> bool {
    round(bytes, |bytes| taken(Leaderboard::read(NAME, bytes)), Leaderboard::write)
}

fn round<T: Debug + PartialEq>(
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Option<T>,
    write: impl Fn(&T) -> Vec<u8>,
) -> bool {
    let value = read(bytes);
    if let Some(value) = &value {
        assert_eq!(read(&write(value)).as_ref(), Some(value), "as written");
    }
    value.is_some()
}
