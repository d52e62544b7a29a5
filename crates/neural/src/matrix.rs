//! Matrix products. The one file that calls the `gemm` crate.

/// Products of all rows of `a` with all rows of `b`, each of `dim` values:
/// `out[i * stride + j]` becomes the product of row `i` of `a` with row `j` of `b`. What lies
/// between the rows of `out` stays.
///
/// The order of each sum depends on the three sizes and on the processor, not on the position of
/// a row nor on the other rows: callers that need the same product in every batch keep the sizes.
/// Runs on the calling thread.
///
/// # Panics
///
/// If the sizes disagree: `a` and `b` are whole rows, a row of products fits in `stride`, and
/// `out` has room for all of them.
pub(crate) fn products_of_rows(dim: usize, a: &[f32], b: &[f32], out: &mut [f32], stride: usize) {
    assert!(0 < dim && a.len().is_multiple_of(dim) && b.len().is_multiple_of(dim));
    let (rows, columns) = (a.len() / dim, b.len() / dim);
    if rows == 0 || columns == 0 {
        return;
    }
    assert!(columns <= stride && (rows - 1) * stride + columns <= out.len());
    let signed = |n: usize| isize::try_from(n);
    let (Ok(dim_step), Ok(row_step)) = (signed(dim), signed(stride)) else {
        unreachable!("a slice has no more values than that");
    };
    #[expect(unsafe_code, reason = "gemm takes pointers and strides")]
    // SAFETY: `a` is `[rows, dim]` and `b` `[columns, dim]`, both row-major and read only; `b` is
    // read transposed. The last value written is `(rows - 1) * stride + columns - 1`, which the
    // assertion above keeps inside `out`, and rows don't overlap because `columns <= stride`.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            dim,
            out.as_mut_ptr(),
            1,
            row_step,
            false,
            a.as_ptr(),
            1,
            dim_step,
            b.as_ptr(),
            dim_step,
            1,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_go_where_they_belong() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]; // [2, 3]
        let b = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]; // [2, 3]
        let mut out = [-1.0; 6];
        products_of_rows(3, &a, &b, &mut out, 4);
        assert_eq!(out.to_vec(), vec![1.0, 3.0, -1.0, -1.0, 4.0, 6.0]);
        products_of_rows(3, &[], &b, &mut out, 4);
        assert_eq!(out[..1].to_vec(), vec![1.0]);
    }

    #[test]
    #[should_panic(expected = "columns <= stride")]
    fn a_row_that_does_not_fit_is_a_bug() {
        products_of_rows(1, &[1.0], &[1.0, 2.0], &mut [0.0; 2], 1);
    }
}
