//! Texts as measures: `name(rel=R,p=P)@K`.

use std::{cell::RefCell, num::NonZeroU32, str::FromStr};

use crate::plain::{
    error::MeasureError,
    measure::{MEASURES, Measure, Real},
};

impl FromStr for Measure {
    type Err = MeasureError;

    fn from_str(text: &str) -> Result<Measure, MeasureError> {
        let spec = Spec::parse(text.trim())?;
        let measure = match spec.name {
            "nDCG" | "NDCG" => Measure::Ndcg { cutoff: spec.cutoff()? },
            "AP" | "MAP" => Measure::Ap { rel: spec.rel()?, cutoff: spec.cutoff()? },
            "RR" | "MRR" => Measure::Rr { rel: spec.rel()?, cutoff: spec.cutoff()? },
            "P" | "Precision" => Measure::P { rel: spec.rel()?, cutoff: spec.needed()? },
            "R" | "Recall" => Measure::R { rel: spec.rel()?, cutoff: spec.needed()? },
            "Success" => Measure::Success { rel: spec.rel()?, cutoff: spec.needed()? },
            "Rprec" | "RPrec" => Measure::Rprec { rel: spec.rel()? },
            "IPrec" => Measure::IPrec { rel: spec.rel()?, recall: spec.recall()? },
            "Bpref" | "BPref" => Measure::Bpref { rel: spec.rel()? },
            "infAP" => Measure::InfAp { rel: spec.rel()? },
            "ERR" => Measure::Err { cutoff: spec.needed()? },
            "RBP" => Measure::Rbp { rel: spec.rel()?, p: spec.p()?, cutoff: spec.cutoff()? },
            "SetP" => Measure::SetP { rel: spec.rel()? },
            "SetR" => Measure::SetR { rel: spec.rel()? },
            "SetF" => Measure::SetF { rel: spec.rel()?, beta: spec.beta()? },
            "SetAP" => Measure::SetAp { rel: spec.rel()? },
            "Judged" => Measure::Judged { cutoff: spec.needed()? },
            "NumRet" => match spec.given("rel") {
                None => Measure::NumRet,
                Some(_) => Measure::NumRelRet { rel: spec.rel()? },
            },
            "NumRel" => Measure::NumRel { rel: spec.rel()? },
            "NumRelRet" => Measure::NumRelRet { rel: spec.rel()? },
            name => {
                return Err(MeasureError::Unknown { got: name.to_owned(), expected: names() });
            }
        };
        spec.all_taken()?;
        Ok(measure)
    }
}

/// The names there are, each between backticks.
fn names() -> String {
    let names = MEASURES.iter().filter_map(|(form, _)| form.split([',', '@']).next());
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The parts of a measure's text, and which of them its measure takes.
struct Spec<'a> {
    text: &'a str,
    name: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    cutoff: Option<&'a str>,
    taken: RefCell<Vec<&'static str>>,
}

impl<'a> Spec<'a> {
    fn parse(text: &'a str) -> Result<Spec<'a>, MeasureError> {
        let malformed = || MeasureError::Malformed { got: text.to_owned() };
        let (head, cutoff) = match text.rsplit_once('@') {
            None => (text, None),
            Some((head, cutoff)) => (head, Some(cutoff.trim())),
        };
        let (name, rest) = match head.split_once('(') {
            None => (head, ""),
            Some((name, rest)) => (name, rest.strip_suffix(')').ok_or_else(malformed)?),
        };
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(malformed());
        }
        let mut parameters: Vec<(&str, &str)> = Vec::new();
        for parameter in rest.split(',').filter(|parameter| !parameter.trim().is_empty()) {
            let (key, value) = parameter.split_once('=').ok_or_else(malformed)?;
            let (key, value) = (key.trim(), value.trim());
            if parameters.iter().any(|&(other, _)| other == key) {
                return Err(malformed());
            }
            parameters.push((key, value));
        }
        Ok(Spec { text, name, parameters, cutoff, taken: RefCell::default() })
    }

    /// What stands for a parameter.
    fn given(&self, key: &'static str) -> Option<&'a str> {
        self.parameters.iter().find(|(other, _)| *other == key).map(|&(_, value)| value)
    }

    fn take(&self, key: &'static str) -> Option<&'a str> {
        self.taken.borrow_mut().push(key);
        self.given(key)
    }

    fn number(&self, field: &'static str, got: &str) -> Result<NonZeroU32, MeasureError> {
        got.parse().map_err(|_| self.refuse(field, got, "a whole number of at least 1"))
    }

    fn refuse(&self, field: &'static str, got: &str, expected: &'static str) -> MeasureError {
        let (measure, got) = (self.text.to_owned(), got.to_owned());
        MeasureError::Number { measure, field, got, expected }
    }

    fn rel(&self) -> Result<NonZeroU32, MeasureError> {
        self.take("rel").map_or(Ok(NonZeroU32::MIN), |got| self.number("rel", got))
    }

    fn p(&self) -> Result<Real, MeasureError> {
        let inside = |p: &f64| 0.0 < *p && *p < 1.0;
        self.real("p", Real::P, inside, "a number above 0 and below 1")
    }

    fn beta(&self) -> Result<Real, MeasureError> {
        self.real("beta", Real::BETA, |beta| 0.0 <= *beta, "a number of at least 0")
    }

    fn real(
        &self,
        key: &'static str,
        default: Real,
        inside: impl Fn(&f64) -> bool,
        expected: &'static str,
    ) -> Result<Real, MeasureError> {
        let Some(got) = self.take(key) else { return Ok(default) };
        let value = got.parse().ok().filter(inside).and_then(Real::new);
        value.ok_or_else(|| self.refuse(key, got, expected))
    }

    fn cutoff(&self) -> Result<Option<NonZeroU32>, MeasureError> {
        self.taken.borrow_mut().push("@");
        self.cutoff.map(|got| self.number("cutoff", got)).transpose()
    }

    fn needed(&self) -> Result<NonZeroU32, MeasureError> {
        self.cutoff()?.ok_or_else(|| self.no_cutoff("10"))
    }

    fn no_cutoff(&self, example: &'static str) -> MeasureError {
        MeasureError::NoCutoff { got: self.name.to_owned(), example }
    }

    /// A share of at most two decimals, in hundredths: trec_eval tells no more apart.
    fn recall(&self) -> Result<u8, MeasureError> {
        self.taken.borrow_mut().push("@");
        let got = self.cutoff.ok_or_else(|| self.no_cutoff("0.1"))?;
        let refused = || self.refuse("cutoff", got, "a share from 0 to 1 with two decimals");
        let (whole, part) = got.split_once('.').unwrap_or((got, "0"));
        let part = if part.len() == 1 { format!("{part}0") } else { part.to_owned() };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(&part) || part.len() != 2 {
            return Err(refused());
        }
        let part: u8 = part.parse().map_err(|_| refused())?;
        match (whole, part) {
            ("0" | "", part) => Ok(part),
            ("1", 0) => Ok(100),
            _ => Err(refused()),
        }
    }

    /// Refuses what the measure did not take.
    fn all_taken(&self) -> Result<(), MeasureError> {
        let taken = self.taken.borrow();
        if self.cutoff.is_some() && !taken.contains(&"@") {
            return Err(MeasureError::CutoffNotTaken { got: self.name.to_owned() });
        }
        match self.parameters.iter().find(|(key, _)| !taken.contains(key)) {
            None => Ok(()),
            Some((key, _)) => {
                let keys = taken.iter().filter(|&&key| key != "@").map(|key| format!("`{key}`"));
                let keys: Vec<String> = keys.collect();
                let expected = if keys.is_empty() { "none".into() } else { keys.join(", ") };
                let (measure, got) = (self.text.to_owned(), (*key).to_owned());
                Err(MeasureError::Parameter { measure, got, expected })
            }
        }
    }
}
