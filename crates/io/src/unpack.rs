//! Packed files.

use std::{
    borrow::Cow,
    fs::File,
    io::{BufRead as _, BufReader, Read},
    path::Path,
};

use crate::{error::InputError, files::unreadable, rows::MAX_LINE};

/// What a packed file may unpack to, in bytes. A line of it may have 64 MiB.
pub const MAX_UNPACKED: u64 = 1 << 30;

/// Plain bytes of a file that may be gzip or zstd: its first bytes tell, not its name.
///
/// # Errors
///
/// If it does not unpack, or unpacks to more than [`MAX_UNPACKED`].
pub fn unpacked(file: &str, bytes: Vec<u8>) -> Result<Vec<u8>, InputError> {
    Ok(match unpack(file, &bytes, MAX_UNPACKED)? {
        Cow::Owned(plain) => plain,
        Cow::Borrowed(_) => bytes,
    })
}

/// The first line of a file that may be gzip or zstd, with its end; at most what a line may have.
///
/// # Errors
///
/// If the file cannot be read, or does not unpack as far as that.
pub fn read_first_line(path: &Path) -> Result<Vec<u8>, InputError> {
    let failed = |error: std::io::Error| unreadable(path.display(), &error);
    let mut packed = BufReader::new(File::open(path).map_err(failed)?);
    let head = packed.fill_buf().map_err(failed)?.to_vec();
    let plain: Box<dyn Read> = match head.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Box::new(zstd::stream::read::Decoder::with_buffer(packed).map_err(failed)?)
        }
        _ => Box::new(packed),
    };
    let mut line = Vec::new();
    let mut plain = BufReader::new(plain.take(MAX_LINE as u64));
    plain.read_until(b'\n', &mut line).map_err(failed)?;
    Ok(line)
}

/// Plain bytes, whatever they were packed with.
pub(crate) fn unpack<'a>(
    file: &str,
    bytes: &'a [u8],
    most: u64,
) -> Result<Cow<'a, [u8]>, InputError> {
    let failed = |format: &str, error: std::io::Error| {
        InputError::new(file, format!("does not unpack as {format}: {error}"))
    };
    let (format, reader): (&str, Box<dyn Read + 'a>) = match bytes {
        [0x1f, 0x8b, ..] => ("gzip", Box::new(flate2::bufread::MultiGzDecoder::new(bytes))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let reader = zstd::stream::read::Decoder::with_buffer(bytes);
            ("zstd", Box::new(reader.map_err(|error| failed("zstd", error))?))
        }
        _ => return Ok(Cow::Borrowed(bytes)),
    };
    let mut unpacked = Vec::new();
    let n = reader.take(most + 1).read_to_end(&mut unpacked).map_err(|e| failed(format, e))?;
    match n as u64 <= most {
        true => Ok(Cow::Owned(unpacked)),
        false => {
            let error = InputError::new(file, format!("unpacks to more than {most} bytes"));
            Err(error.expected(format!("at most {most}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn packed_files_are_read_whatever_their_name() {
        let text = b"one\ntwo\n".to_vec();
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&text).unwrap();
        let zst = zstd::encode_all(&text[..], 1).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for bytes in [text.clone(), gz.finish().unwrap(), zst] {
            assert_eq!(unpacked("f", bytes.clone()).unwrap(), text);
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(read_first_line(&path).unwrap(), b"one\n");
        }
        assert!(unpacked("f", b"\x1f\x8b\x08".to_vec()).is_err());
        assert!(read_first_line(&dir.path().join("none")).is_err());
    }
}
