//! A small hub for tests: one repository at one commit, over HTTP, with faults on request.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
};

use sha2::{Digest as _, Sha256};

pub(super) const REPOSITORY: &str = "acme/small-model";
pub(super) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// What goes wrong.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Faults {
    /// The connection ends after so many bytes of a weight file.
    pub(super) cut_after: Option<usize>,
    /// Weight files have other bytes than their names say.
    pub(super) corrupt: bool,
    /// Only this token may read.
    pub(super) token: Option<&'static str>,
    /// Weight files come from another address, as on the hub.
    pub(super) redirect: bool,
}

pub(super) struct Server {
    pub(super) endpoint: String,
    state: Arc<State>,
}

struct State {
    endpoint: String,
    files: BTreeMap<&'static str, Vec<u8>>,
    faults: Mutex<Faults>,
    /// Method, path and range of each request.
    requests: Mutex<Vec<String>>,
}

impl Server {
    pub(super) fn start(files: &[(&'static str, Vec<u8>)]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            endpoint: endpoint.clone(),
            files: files.iter().cloned().collect(),
            faults: Mutex::default(),
            requests: Mutex::default(),
        });
        let served = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&served);
                // A client that went away is no concern of the server's.
                std::thread::spawn(move || stream.map(|stream| serve(&state, stream)));
            }
        });
        Server { endpoint, state }
    }

    pub(super) fn set(&self, faults: Faults) {
        *self.state.faults.lock().unwrap() = faults;
    }

    /// The requests since the last call.
    pub(super) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.state.requests.lock().unwrap())
    }

    pub(super) fn sha256(&self, file: &str) -> String {
        hex::encode(Sha256::digest(&self.state.files[file]))
    }
}

fn serve(state: &State, stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
        let (mut range, mut token) = (None, None);
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let Some((name, value)) = header.trim().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "range" => range = Some(value.trim_start_matches("bytes=").to_owned()),
                "authorization" => token = Some(value.trim_start_matches("Bearer ").to_owned()),
                _ => {}
            }
        }
        let request = format!("{path} {}", range.as_deref().unwrap_or("-"));
        state.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        if !answer(state, &mut stream, &path, range.as_deref(), token.as_deref())? {
            return Ok(());
        }
    }
}

/// Whether the connection stays.
fn answer(
    state: &State,
    stream: &mut TcpStream,
    path: &str,
    range: Option<&str>,
    token: Option<&str>,
) -> std::io::Result<bool> {
    let faults = *state.faults.lock().unwrap_or_else(PoisonError::into_inner);
    if faults.token.is_some() && faults.token != token {
        return plain(stream, "401 Unauthorized", "who are you?");
    }
    let listing = [COMMIT, "main"].map(|r| format!("/api/models/{REPOSITORY}/revision/{r}"));
    if listing.iter().any(|known| known == path) {
        let names: Vec<_> =
            state.files.keys().map(|name| serde_json::json!({ "rfilename": name })).collect();
        let body = serde_json::json!({ "sha": COMMIT, "siblings": names }).to_string();
        return plain(stream, "200 OK", &body);
    }
    let resolved = [COMMIT, "main"].map(|r| format!("/{REPOSITORY}/resolve/{r}/"));
    let direct = resolved.iter().find_map(|prefix| path.strip_prefix(prefix.as_str()));
    let Some(name) = direct.or_else(|| path.strip_prefix("/elsewhere/")) else {
        return plain(stream, "404 Not Found", "no such thing");
    };
    let Some(bytes) = state.files.get(name) else {
        return plain(stream, "404 Not Found", "no such file");
    };
    let large = name.ends_with(".safetensors");
    let etag = match large {
        true => hex::encode(Sha256::digest(bytes)),
        false => hex::encode(&Sha256::digest(bytes)[..20]),
    };
    if large && faults.redirect && direct.is_some() {
        write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: {}/elsewhere/{name}\r\nX-Repo-Commit: {COMMIT}\r\nX-Linked-ETag: \"{etag}\"\r\nContent-Length: 0\r\n\r\n",
            state.endpoint
        )?;
        return Ok(true);
    }
    let mut bytes = bytes.clone();
    if large && faults.corrupt {
        bytes[0] ^= 1;
    }
    let (start, end) = match range.and_then(|range| range.split_once('-')) {
        Some((start, "")) => (start.parse().unwrap_or(0), bytes.len()),
        Some((start, end)) => {
            (start.parse().unwrap_or(0), end.parse::<usize>().map_or(bytes.len(), |end| end + 1))
        }
        None => (0, bytes.len()),
    };
    let part = bytes.get(start..end.min(bytes.len())).unwrap_or_default();
    write!(
        stream,
        "HTTP/1.1 206 Partial Content\r\nETag: \"{etag}\"\r\nX-Repo-Commit: {COMMIT}\r\nContent-Range: bytes {start}-{}/{}\r\nContent-Length: {}\r\n\r\n",
        end.saturating_sub(1),
        bytes.len(),
        part.len()
    )?;
    match faults.cut_after.filter(|&cut| large && cut < part.len()) {
        Some(cut) => {
            stream.write_all(&part[..cut])?;
            stream.flush()?;
            Ok(false)
        }
        None => {
            stream.write_all(part)?;
            Ok(true)
        }
    }
}

fn plain(stream: &mut TcpStream, status: &str, body: &str) -> std::io::Result<bool> {
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
    Ok(true)
}
