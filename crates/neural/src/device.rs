//! Where numbers are computed. The one file that knows which accelerators this build has.

use std::{fmt, str::FromStr};

use crate::error::NeuralError;

/// A device that is there.
#[derive(Clone, Debug)]
pub struct Device {
    name: Name,
    candle: candle_core::Device,
}

/// What a user can ask for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Name {
    Cpu,
    Cuda(usize),
    Metal,
}

impl Device {
    /// The processor.
    pub fn cpu() -> Device {
        Device { name: Name::Cpu, candle: candle_core::Device::Cpu }
    }

    /// Opens `cpu`, `cuda`, `cuda:N` or `metal`.
    ///
    /// # Errors
    ///
    /// If the name is none of these, this build lacks the feature, or the driver or the device
    /// is missing; the message says which.
    pub fn open(name: &str) -> Result<Device, NeuralError> {
        let parsed: Name = name.parse()?;
        let failed = |error| NeuralError::DeviceOpen {
            device: name.to_owned(),
            source: without_backtrace(error),
        };
        let candle = match parsed {
            Name::Cpu => candle_core::Device::Cpu,
            Name::Cuda(_) if !cfg!(feature = "cuda") => {
                return Err(NeuralError::DeviceFeature {
                    device: name.to_owned(),
                    feature: "cuda",
                });
            }
            Name::Metal if !cfg!(feature = "metal") => {
                return Err(NeuralError::DeviceFeature {
                    device: name.to_owned(),
                    feature: "metal",
                });
            }
            Name::Cuda(ordinal) => candle_core::Device::new_cuda(ordinal).map_err(failed)?,
            Name::Metal => candle_core::Device::new_metal(0).map_err(failed)?,
        };
        Ok(Device { name: parsed, candle })
    }

    /// Whether this is the processor.
    pub fn is_cpu(&self) -> bool {
        self.name == Name::Cpu
    }

    /// The same device in candle's terms.
    pub fn candle(&self) -> &candle_core::Device {
        &self.candle
    }
}

/// `cpu`, `cuda:N` or `metal`.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Name::Cpu => f.write_str("cpu"),
            Name::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            Name::Metal => f.write_str("metal"),
        }
    }
}

impl FromStr for Name {
    type Err = NeuralError;

    fn from_str(name: &str) -> Result<Name, NeuralError> {
        let unknown = || NeuralError::DeviceName { device: name.to_owned() };
        match name.split_once(':') {
            None if name == "cpu" => Ok(Name::Cpu),
            None if name == "cuda" => Ok(Name::Cuda(0)),
            None if name == "metal" => Ok(Name::Metal),
            Some(("cuda", ordinal)) => ordinal.parse().map(Name::Cuda).map_err(|_| unknown()),
            _ => Err(unknown()),
        }
    }
}

/// What failed, in one line: under `RUST_BACKTRACE` candle writes its frames into the message.
fn without_backtrace(error: candle_core::Error) -> candle_core::Error {
    match error {
        candle_core::Error::WithBacktrace { inner, .. } => without_backtrace(*inner),
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use std::backtrace::Backtrace;

    use super::*;

    #[test]
    fn a_device_that_fails_says_so_in_one_line() {
        let mut error = candle_core::Error::Msg("no device".to_owned());
        for _ in 0..2 {
            let backtrace = Box::new(Backtrace::force_capture());
            error = candle_core::Error::WithBacktrace { inner: Box::new(error), backtrace };
        }
        assert_ne!(error.to_string(), "no device");
        assert_eq!(without_backtrace(error).to_string(), "no device");
    }

    #[test]
    fn a_device_that_is_not_there_says_what_is_missing() {
        let err = |name: &str| Device::open(name).unwrap_err().to_string();
        assert_eq!(Device::open("cpu").unwrap().to_string(), "cpu");
        assert_eq!(
            err("tpu"),
            "device `tpu` is unknown; expected `cpu`, `cuda`, `cuda:N` or `metal`"
        );
        assert_eq!(
            err("cuda:x"),
            "device `cuda:x` is unknown; expected `cpu`, `cuda`, `cuda:N` or `metal`"
        );
        if !cfg!(feature = "cuda") {
            assert_eq!(
                err("cuda:0"),
                "device `cuda:0`: this build lacks the feature `cuda`; expected a build with `--features cuda`"
            );
        }
        if !cfg!(feature = "metal") {
            assert!(err("metal").contains("lacks the feature `metal`"));
        }
    }
}
