//! What the environment says of the hub, in the hub's own variables.

use std::path::PathBuf;

/// Where the hub and its cache are, and who asks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HubSettings {
    /// The hub: `HF_ENDPOINT`, or `https://huggingface.co`.
    pub endpoint: String,
    /// Its cache: `HF_HUB_CACHE`, or `hub` in `HF_HOME`, or `~/.cache/huggingface/hub`.
    pub cache: PathBuf,
    /// A token: `HF_TOKEN`, or the file `token` in `HF_HOME`.
    pub token: Option<String>,
    /// `HF_HUB_OFFLINE` is `1`, `true`, `yes` or `on`.
    pub offline: bool,
    /// A proxy is set, so that only it knows what can be reached.
    pub proxied: bool,
}

impl HubSettings {
    /// Reads the variables through `get`. None if there is no home to keep a cache in.
    pub fn from_env(get: impl Fn(&str) -> Option<String>) -> Option<HubSettings> {
        let get = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        let home = || {
            let cache = get("XDG_CACHE_HOME").map(PathBuf::from);
            let user = || get("HOME").or_else(|| get("USERPROFILE")).map(PathBuf::from);
            cache.or_else(|| Some(user()?.join(".cache"))).map(|cache| cache.join("huggingface"))
        };
        let home = get("HF_HOME").map(PathBuf::from).or_else(home);
        let cache = get("HF_HUB_CACHE").map(PathBuf::from);
        let cache = cache.or_else(|| Some(home.clone()?.join("hub")))?;
        let token = get("HF_TOKEN").or_else(|| std::fs::read_to_string(home?.join("token")).ok());
        let offline = get("HF_HUB_OFFLINE").is_some_and(|value| {
            ["1", "true", "yes", "on"].contains(&value.trim().to_ascii_lowercase().as_str())
        });
        let endpoint = get("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned());
        let proxies =
            ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
        Some(HubSettings {
            endpoint: endpoint.trim().trim_end_matches('/').to_owned(),
            // The hub's client links files by their absolute paths.
            cache: std::path::absolute(&cache).unwrap_or(cache),
            token: token.map(|token| token.trim().to_owned()).filter(|token| !token.is_empty()),
            offline,
            proxied: proxies.iter().any(|name| get(name).is_some()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> HubSettings {
        let get = |name: &str| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        };
        HubSettings::from_env(get).unwrap()
    }

    #[test]
    fn variables_are_those_of_the_hub() {
        let plain = of(&[("HOME", "/users/a")]);
        assert_eq!(plain.endpoint, "https://huggingface.co");
        assert_eq!(plain.cache, PathBuf::from("/users/a/.cache/huggingface/hub"));
        assert!(!plain.offline && plain.token.is_none() && !plain.proxied);
        let home =
            of(&[("HOME", "/users/a"), ("HF_HOME", "/data/hf"), ("HF_ENDPOINT", "http://x:1/")]);
        assert_eq!((home.endpoint.as_str(), home.cache), ("http://x:1", "/data/hf/hub".into()));
        let cache = of(&[("HF_HOME", "/data/hf"), ("HF_HUB_CACHE", "/c"), ("HF_TOKEN", " t \n")]);
        assert_eq!((cache.cache, cache.token.as_deref()), (PathBuf::from("/c"), Some("t")));
        assert_eq!(
            of(&[("HOME", "/a"), ("XDG_CACHE_HOME", "/x")]).cache,
            PathBuf::from("/x/huggingface/hub")
        );
        assert!(HubSettings::from_env(|_| None).is_none());
    }

    #[test]
    fn offline_is_what_the_hub_takes_for_true() {
        for (value, offline) in
            [("1", true), ("ON", true), ("yes", true), ("0", false), ("", false)]
        {
            assert_eq!(
                of(&[("HOME", "/a"), ("HF_HUB_OFFLINE", value)]).offline,
                offline,
                "{value}"
            );
        }
    }

    #[test]
    fn a_token_file_is_read_and_a_variable_goes_before_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("token"), "from-file\n").unwrap();
        let home = dir.path().display().to_string();
        assert_eq!(of(&[("HF_HOME", &home)]).token.as_deref(), Some("from-file"));
        let both = of(&[("HF_HOME", &home), ("HF_TOKEN", "from-env")]);
        assert_eq!(both.token.as_deref(), Some("from-env"));
    }
}
