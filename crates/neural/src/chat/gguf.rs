//! GGUF files: metadata and tensors of one mapped file.
//!
//! Every size in the file is compared with the bytes that are left before anything is allocated.
//!
//! Source: the format's description in ggml, `docs/gguf.md`, versions 2 and 3.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use candle_core::quantized::{GgmlDType, QTensor, ggml_file::qtensor_from_ggml};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{error::NeuralError, mapped::Mapped, snapshot::Config};

/// An opened file.
pub(crate) struct Gguf {
    path: PathBuf,
    bytes: Mapped,
    /// The metadata, arrays included.
    pub(super) config: Config,
    tensors: BTreeMap<String, Info>,
}

/// Where a tensor is.
struct Info {
    /// Rows first, other than in the file.
    shape: Vec<usize>,
    dtype: GgmlDType,
    /// In the file.
    start: usize,
    len: usize,
}

/// More entries are not believed.
const MOST: usize = 1 << 22;

impl Gguf {
    /// Opens a file and reads all but the tensors' values.
    ///
    /// # Errors
    ///
    /// If it is not a GGUF file, or cut short.
    pub(super) fn open(path: &Path) -> Result<Gguf, NeuralError> {
        let bytes = Mapped::open(path)
            .map_err(|source| NeuralError::Read { path: path.to_owned(), source })?;
        let damaged = |problem| NeuralError::Gguf { path: path.to_owned(), problem };
        let mut reader = Reader { bytes: &bytes, at: 0 };
        let (fields, tensors) = header(&mut reader).map_err(damaged)?;
        let config = Config::of_fields(path, fields);
        Ok(Gguf { path: path.to_owned(), config, tensors, bytes })
    }

    /// Whether there is a tensor of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// A tensor's shape, rows first.
    ///
    /// # Errors
    ///
    /// If it is missing.
    pub(super) fn shape(&self, name: &str) -> Result<&[usize], NeuralError> {
        Ok(&self.info(name)?.shape)
    }

    /// A tensor as it is in the file, on the CPU.
    ///
    /// # Errors
    ///
    /// If it is missing or has another shape.
    pub(super) fn quantised(&self, name: &str, shape: &[usize]) -> Result<QTensor, NeuralError> {
        let info = self.info(name)?;
        if info.shape != shape {
            return Err(NeuralError::TensorShape {
                path: self.path.clone(),
                name: name.to_owned(),
                got: info.shape.clone(),
                expected: shape.to_vec(),
            });
        }
        let data = &self.bytes[info.start..info.start + info.len];
        let cpu = candle_core::Device::Cpu;
        Ok(qtensor_from_ggml(info.dtype, data, info.shape.clone(), &cpu)?)
    }

    /// A tensor as f32, row-major.
    ///
    /// # Errors
    ///
    /// If it is missing, has another shape, or holds a value that is not finite.
    pub(super) fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, NeuralError> {
        let tensor = self.quantised(name, shape)?.dequantize(&candle_core::Device::Cpu)?;
        let values = tensor.flatten_all()?.to_vec1::<f32>()?;
        match values.iter().all(|x| x.is_finite()) {
            true => Ok(values),
            false => {
                Err(NeuralError::TensorValue { path: self.path.clone(), name: name.to_owned() })
            }
        }
    }

    /// The sha256 of the file.
    pub(super) fn digest(&self) -> String {
        hex::encode(Sha256::digest(&*self.bytes))
    }

    fn info(&self, name: &str) -> Result<&Info, NeuralError> {
        self.tensors.get(name).ok_or_else(|| NeuralError::TensorAbsent {
            path: self.path.clone(),
            name: name.to_owned(),
        })
    }
}

type Header = (Map<String, Value>, BTreeMap<String, Info>);

fn header(reader: &mut Reader<'_>) -> Result<Header, String> {
    if reader.take(4)? != b"GGUF" {
        return Err("it does not begin with `GGUF`".to_owned());
    }
    let version = reader.u32()?;
    if !(2..=3).contains(&version) {
        return Err(format!("its version is {version}; expected 2 or 3"));
    }
    let (tensors, fields) = (reader.count("tensors")?, reader.count("fields")?);
    let mut metadata = Map::new();
    for _ in 0..fields {
        let name = reader.text()?;
        let kind = reader.u32()?;
        let value = reader.value(kind, &name)?;
        metadata.insert(name, value);
    }
    let mut infos = Vec::new();
    for _ in 0..tensors {
        let name = reader.text()?;
        let rank = reader.u32()?;
        if !(1..=4).contains(&rank) {
            return Err(format!("tensor `{}` has {rank} dimensions", short(&name)));
        }
        let mut shape = Vec::new();
        for _ in 0..rank {
            shape.push(reader.size()?);
        }
        shape.reverse();
        let kind = reader.u32()?;
        let dtype = dtype(kind)
            .ok_or_else(|| format!("tensor `{}` has the unknown type {kind}", short(&name)))?;
        infos.push((name, shape, dtype, reader.size()?));
    }
    let alignment = match metadata.get("general.alignment") {
        None => 32,
        Some(value) => {
            let n = value.as_u64().and_then(|n| usize::try_from(n).ok());
            n.filter(|n| n.is_multiple_of(8) && (8..=4096).contains(n))
                .ok_or_else(|| format!("its alignment is {value}; expected a multiple of 8"))?
        }
    };
    let start = reader.at.next_multiple_of(alignment);
    let mut all = BTreeMap::new();
    for (name, shape, dtype, offset) in infos {
        let info = place(&name, shape, dtype, offset, start, reader.bytes.len())?;
        if !offset.is_multiple_of(alignment) {
            return Err(format!("tensor `{}` is not aligned", short(&name)));
        }
        if all.contains_key(&name) {
            return Err(format!("there are two tensors `{}`", short(&name)));
        }
        all.insert(name, info);
    }
    Ok((metadata, all))
}

/// Where a tensor's bytes are, which must be inside the file.
fn place(
    name: &str,
    shape: Vec<usize>,
    dtype: GgmlDType,
    offset: usize,
    start: usize,
    size: usize,
) -> Result<Info, String> {
    let row = shape.last().copied().unwrap_or(0);
    if !row.is_multiple_of(dtype.block_size()) {
        return Err(format!("tensor `{}` has rows of {row}, not whole blocks", short(name)));
    }
    let values = shape.iter().try_fold(1usize, |all, &n| all.checked_mul(n));
    let len = values.and_then(|n| (n / dtype.block_size()).checked_mul(dtype.type_size()));
    let start = start.checked_add(offset);
    match (start, len) {
        (Some(start), Some(len)) if start.checked_add(len).is_some_and(|end| end <= size) => {
            Ok(Info { shape, dtype, start, len })
        }
        _ => Err(format!("tensor `{}` reaches beyond its end", short(name))),
    }
}

fn dtype(kind: u32) -> Option<GgmlDType> {
    Some(match kind {
        0 => GgmlDType::F32,
        1 => GgmlDType::F16,
        2 => GgmlDType::Q4_0,
        3 => GgmlDType::Q4_1,
        6 => GgmlDType::Q5_0,
        7 => GgmlDType::Q5_1,
        8 => GgmlDType::Q8_0,
        10 => GgmlDType::Q2K,
        11 => GgmlDType::Q3K,
        12 => GgmlDType::Q4K,
        13 => GgmlDType::Q5K,
        14 => GgmlDType::Q6K,
        30 => GgmlDType::BF16,
        _ => return None,
    })
}

/// The bytes that are left.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(n).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("it ends within the header, at byte {}", self.at))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn size(&mut self) -> Result<usize, String> {
        let n = u64::from_le_bytes(self.array()?);
        usize::try_from(n).map_err(|_| format!("a size is {n}"))
    }

    /// A number of things of at least a byte each.
    fn count(&mut self, what: &str) -> Result<usize, String> {
        let n = self.size()?;
        match n <= MOST.min(self.bytes.len() - self.at) {
            true => Ok(n),
            false => Err(format!("it states {n} {what}, more than it can hold")),
        }
    }

    fn text(&mut self) -> Result<String, String> {
        let n = self.size()?;
        let at = self.at;
        let bytes = self.take(n)?;
        let text = std::str::from_utf8(bytes);
        text.map(str::to_owned).map_err(|_| format!("the text at byte {at} is not UTF-8"))
    }

    fn value(&mut self, kind: u32, name: &str) -> Result<Value, String> {
        Ok(match kind {
            0 => self.array::<1>()?[0].into(),
            1 => i8::from_le_bytes(self.array()?).into(),
            2 => u16::from_le_bytes(self.array()?).into(),
            3 => i16::from_le_bytes(self.array()?).into(),
            4 => self.u32()?.into(),
            5 => i32::from_le_bytes(self.array()?).into(),
            6 => finite(f32::from_le_bytes(self.array()?).into(), name)?,
            7 => (self.array::<1>()?[0] != 0).into(),
            8 => self.text()?.into(),
            9 => {
                let kind = self.u32()?;
                if kind == 9 {
                    return Err(format!("field `{}` is a list of lists", short(name)));
                }
                let n = self.count("entries of a list")?;
                let mut values = Vec::new();
                for _ in 0..n {
                    values.push(self.value(kind, name)?);
                }
                values.into()
            }
            10 => u64::from_le_bytes(self.array()?).into(),
            11 => i64::from_le_bytes(self.array()?).into(),
            12 => finite(f64::from_le_bytes(self.array()?), name)?,
            _ => return Err(format!("field `{}` has the unknown type {kind}", short(name))),
        })
    }
}

/// JSON has no other numbers, and would have a null in their place.
fn finite(value: f64, name: &str) -> Result<Value, String> {
    match value.is_finite() {
        true => Ok(value.into()),
        false => Err(format!("field `{}` is {value}; expected a finite number", short(name))),
    }
}

fn short(name: &str) -> String {
    crate::snapshot::short(name)
}
