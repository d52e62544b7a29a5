//! Safetensors files: one, or several with an index; mapped, and read as f32.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use sha2::{Digest, Sha256};

use super::config::Config;
use crate::{error::NeuralError, mapped::Mapped};

/// The tensors of a model.
pub(crate) struct Weights {
    /// The file, or the folder of several.
    path: PathBuf,
    shards: Vec<Shard>,
    /// Which shard a tensor is in.
    places: BTreeMap<String, usize>,
}

struct Shard {
    path: PathBuf,
    bytes: Mapped,
    /// Where the tensors' bytes begin, and what the header says of each.
    metadata: safetensors::tensor::Metadata,
    start: usize,
}

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

impl Weights {
    /// Opens `model.safetensors`, or the shards that `model.safetensors.index.json` names.
    ///
    /// # Errors
    ///
    /// If there is neither, or a file is missing, cut short or not safetensors, or the index
    /// names a tensor that its shard lacks.
    pub(crate) fn open(dir: &Path) -> Result<Weights, NeuralError> {
        let (single, index) = (dir.join(SINGLE), dir.join(INDEX));
        if single.is_file() {
            let shard = Shard::open(single.clone())?;
            let places = shard.names().map(|name| (name, 0)).collect();
            return Ok(Weights { path: single, shards: vec![shard], places });
        }
        if !index.is_file() {
            let expected = format!("`{SINGLE}` and no `{INDEX}`");
            return Err(NeuralError::Absent { dir: dir.to_owned(), expected });
        }
        let index = Config::read(&index)?;
        let map =
            index.object("weight_map")?.ok_or_else(|| index.wrong("weight_map", "an object"))?;
        let mut weights =
            Weights { path: dir.to_owned(), shards: Vec::new(), places: BTreeMap::new() };
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        for name in map.names() {
            let file = map.text(name)?.ok_or_else(|| map.wrong(name, "a file name"))?;
            // A name, so that no index reaches outside its folder.
            if Path::new(file).file_name().is_none_or(|only| only != file) {
                return Err(map.wrong(name, "a file name"));
            }
            let number = match numbers.get(file) {
                Some(&number) => number,
                None => {
                    weights.shards.push(Shard::open(dir.join(file))?);
                    numbers.insert(file, weights.shards.len() - 1);
                    weights.shards.len() - 1
                }
            };
            if weights.shards[number].metadata.info(name).is_none() {
                let path = weights.shards[number].path.clone();
                return Err(NeuralError::TensorAbsent { path, name: name.to_owned() });
            }
            weights.places.insert(name.to_owned(), number);
        }
        Ok(weights)
    }

    /// Whether there is a tensor of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// The error that there is none.
    pub(crate) fn absent(&self, name: &str) -> NeuralError {
        NeuralError::TensorAbsent { path: self.path.clone(), name: name.to_owned() }
    }

    /// The error that a tensor has another shape.
    pub(crate) fn misshapen(
        &self,
        name: &str,
        got: Vec<usize>,
        expected: Vec<usize>,
    ) -> NeuralError {
        NeuralError::TensorShape { path: self.path.clone(), name: name.to_owned(), got, expected }
    }

    /// The error that a tensor holds a value that can't be used.
    pub(crate) fn invalid(&self, name: &str) -> NeuralError {
        NeuralError::TensorValue { path: self.path.clone(), name: name.to_owned() }
    }

    /// A tensor's shape.
    ///
    /// # Errors
    ///
    /// If it is missing.
    pub(crate) fn shape(&self, name: &str) -> Result<Vec<usize>, NeuralError> {
        let (shard, _) = self.find(name)?;
        Ok(shard.metadata.info(name).map(|info| info.shape.clone()).unwrap_or_default())
    }

    /// A tensor as f32, row-major.
    ///
    /// # Errors
    ///
    /// If it is missing, has another shape or another type than F32, F16, BF16 or I8, or holds
    /// a value that is not finite.
    pub(crate) fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, NeuralError> {
        let (shard, view) = self.find(name)?;
        let path = || shard.path.clone();
        if view.shape() != shape {
            return Err(NeuralError::TensorShape {
                path: path(),
                name: name.to_owned(),
                got: view.shape().to_vec(),
                expected: shape.to_vec(),
            });
        }
        let values: Vec<f32> = match view.dtype() {
            Dtype::F32 => {
                view.data().as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect()
            }
            Dtype::BF16 => {
                let halves = view.data().as_chunks().0;
                halves
                    .iter()
                    .map(|&b| f32::from_bits(u32::from(u16::from_le_bytes(b)) << 16))
                    .collect()
            }
            Dtype::F16 => {
                let halves = view.data().as_chunks().0;
                halves.iter().map(|&b| half::f16::from_le_bytes(b).to_f32()).collect()
            }
            Dtype::I8 => view.data().iter().map(|&b| f32::from(b.cast_signed())).collect(),
            other => return Err(wrong_type(shard, name, other)),
        };
        match values.iter().all(|x| x.is_finite()) {
            true => Ok(values),
            false => Err(NeuralError::TensorValue { path: path(), name: name.to_owned() }),
        }
    }

    /// A tensor of whole numbers: `[n]`, I64 or I32.
    ///
    /// # Errors
    ///
    /// If it is missing, has another shape or type, or holds a negative number.
    pub(crate) fn indices(&self, name: &str, n: usize) -> Result<Vec<usize>, NeuralError> {
        let (shard, view) = self.find(name)?;
        if view.shape() != [n] {
            return Err(NeuralError::TensorShape {
                path: shard.path.clone(),
                name: name.to_owned(),
                got: view.shape().to_vec(),
                expected: vec![n],
            });
        }
        let numbers: Vec<i64> = match view.dtype() {
            Dtype::I64 => {
                view.data().as_chunks().0.iter().map(|&b| i64::from_le_bytes(b)).collect()
            }
            Dtype::I32 => {
                view.data().as_chunks().0.iter().map(|&b| i32::from_le_bytes(b).into()).collect()
            }
            other => return Err(wrong_type(shard, name, other)),
        };
        let whole: Result<Vec<usize>, _> = numbers.into_iter().map(usize::try_from).collect();
        whole.map_err(|_| NeuralError::TensorValue {
            path: shard.path.clone(),
            name: name.to_owned(),
        })
    }

    /// The name and sha256 of each file, in name order.
    pub(crate) fn digests(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = self
            .shards
            .iter()
            .map(|shard| {
                let name =
                    shard.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                (name, hex::encode(Sha256::digest(&*shard.bytes)))
            })
            .collect();
        all.sort();
        all
    }

    fn find(&self, name: &str) -> Result<(&Shard, TensorView<'_>), NeuralError> {
        let number = self.places.get(name).ok_or_else(|| self.absent(name))?;
        let shard = &self.shards[*number];
        match shard.view(name) {
            Some(view) => Ok((shard, view)),
            None => Err(self.absent(name)),
        }
    }
}

impl Shard {
    fn open(path: PathBuf) -> Result<Shard, NeuralError> {
        let bytes = Mapped::open(&path)
            .map_err(|source| NeuralError::Read { path: path.clone(), source })?;
        // Checks that header and contents fit the file's length.
        match SafeTensors::read_metadata(&bytes) {
            Ok((header, metadata)) => Ok(Shard { path, bytes, metadata, start: header + 8 }),
            Err(source) => Err(NeuralError::Weights { path, source }),
        }
    }

    fn names(&self) -> impl Iterator<Item = String> {
        self.metadata.tensors().into_keys()
    }

    fn view(&self, name: &str) -> Option<TensorView<'_>> {
        let info = self.metadata.info(name)?;
        let (from, to) = info.data_offsets;
        let data = self.bytes.get(self.start + from..self.start + to)?;
        TensorView::new(info.dtype, info.shape.clone(), data).ok()
    }
}

fn wrong_type(shard: &Shard, name: &str, got: Dtype) -> NeuralError {
    NeuralError::TensorType {
        path: shard.path.clone(),
        name: name.to_owned(),
        got: format!("{got:?}"),
    }
}
