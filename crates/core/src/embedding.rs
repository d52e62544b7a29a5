//! Texts as vectors: what an embedding model gives, and what a dense method is built of.

use crate::scorer::BoxError;

/// Which side of a pair a text is: models may prefix or cut the two differently.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Role {
    /// What is looked for.
    Query,
    /// What is found.
    Document,
}

/// Vectors of texts: row-major, `[n, dim]`, f32, every value finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    dim: usize,
    values: Vec<f32>,
}

/// Turns texts into vectors. The trait that a plug-in embedder implements.
pub trait EmbeddingModel: Send + Sync {
    /// Values in a vector. At least 1, and the same for both roles.
    fn dim(&self) -> usize;

    /// One row for each of `texts`, in the same order: `[texts.len(), dim]`. Rows have unit
    /// length unless the model's card says otherwise. No texts give no rows.
    ///
    /// A row must be a function of its role and its text: no state, and no dependence on the
    /// other texts of the call. Must be safe to call from several threads at once.
    ///
    /// # Errors
    ///
    /// Whatever the model reports.
    fn embed(&self, role: Role, texts: &[&str]) -> Result<Embeddings, BoxError>;
}

/// Why values are no embeddings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddingError {
    /// A vector without a value.
    #[error("embeddings have dimension 0; expected at least 1")]
    NoDimension,
    /// The values don't fill rows.
    #[error("{values} values don't fill rows of {dim}")]
    Shape {
        /// Values in a row.
        dim: usize,
        /// Values given.
        values: usize,
    },
    /// A value is NaN or infinite.
    #[error("text {row}: value {column} of its vector is {value}; expected a finite number")]
    NotFinite {
        /// Position of the text among those embedded.
        row: usize,
        /// Position within the vector.
        column: usize,
        /// The value.
        value: f32,
    },
    /// Another number of vectors than texts.
    #[error(
        "the model gave {got} vectors of dimension {got_dim} for {texts} texts; expected {texts} of dimension {dim}"
    )]
    Count {
        /// Texts given.
        texts: usize,
        /// The model's dimension.
        dim: usize,
        /// Vectors returned.
        got: usize,
        /// Their dimension.
        got_dim: usize,
    },
}

impl Embeddings {
    /// Takes `values` as rows of `dim` values each. No values are no rows.
    ///
    /// # Errors
    ///
    /// If `dim` is 0, the last row is short, or a value is not finite.
    pub fn new(dim: usize, values: Vec<f32>) -> Result<Embeddings, EmbeddingError> {
        if dim == 0 {
            return Err(EmbeddingError::NoDimension);
        }
        if !values.len().is_multiple_of(dim) {
            return Err(EmbeddingError::Shape { dim, values: values.len() });
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => {
                let (row, column) = (at / dim, at % dim);
                Err(EmbeddingError::NotFinite { row, column, value: values[at] })
            }
            None => Ok(Embeddings { dim, values }),
        }
    }

    /// Values in a row. At least 1.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.dim
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The vector of text `i`: `[dim]`.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.dim..(i + 1) * self.dim]
    }

    /// All rows, one after the other: `[len * dim]`.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The rows themselves: `[len * dim]`.
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// Divides each row by its Euclidean length, summed in f64 from first to last. A row of
    /// zeros stays.
    #[must_use]
    pub fn normalized(mut self) -> Embeddings {
        for row in self.values.chunks_exact_mut(self.dim) {
            let square: f64 = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            let length = square.sqrt();
            if 0.0 < length {
                for x in row {
                    *x = to_f32(f64::from(*x) / length);
                }
            }
        }
        self
    }
}

/// Embeds, and checks that there is one vector of the model's dimension for each text.
///
/// # Errors
///
/// The model's, or [`EmbeddingError::Count`].
pub fn embed_checked(
    model: &dyn EmbeddingModel,
    role: Role,
    texts: &[&str],
) -> Result<Embeddings, BoxError> {
    let vectors = model.embed(role, texts)?;
    let (dim, got, got_dim) = (model.dim(), vectors.len(), vectors.dim());
    match got == texts.len() && got_dim == dim {
        true => Ok(vectors),
        false => Err(EmbeddingError::Count { texts: texts.len(), dim, got, got_dim }.into()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a rounded quotient of an f32 fits")]
fn to_f32(value: f64) -> f32 {
    value as f32
}

impl<M: EmbeddingModel + ?Sized> EmbeddingModel for Box<M> {
    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn embed(&self, role: Role, texts: &[&str]) -> Result<Embeddings, BoxError> {
        (**self).embed(role, texts)
    }
}

impl<M: EmbeddingModel + ?Sized> EmbeddingModel for std::sync::Arc<M> {
    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn embed(&self, role: Role, texts: &[&str]) -> Result<Embeddings, BoxError> {
        (**self).embed(role, texts)
    }
}
