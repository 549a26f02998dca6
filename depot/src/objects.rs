//! Objects of a cloud store (S3, Google Cloud Storage, Azure Blob Storage) by their names, for callers
//! without a runtime. Credentials come from the environment, as the store's own programs read them.

use std::io::{self, Read};

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload, WriteMultipart};
use tokio::runtime::Runtime;

use crate::{DepotError, Result};

/// Most names that a list returns.
const MAX_NAMES: usize = 10_000;
/// Bytes of a part of an object that is written.
const PART: usize = 8 << 20;

/// The objects below one address.
#[derive(Debug)]
pub struct Bucket {
    store: Box<dyn ObjectStore>,
    prefix: Path,
    runtime: Runtime,
}

impl Bucket {
    /// Names the objects below an address such as `s3://bucket/folder`, `gs://bucket/folder` or
    /// `az://container/folder`. Sends nothing.
    ///
    /// # Errors
    /// When the address or the environment is not valid.
    pub fn open(url: &str) -> Result<Self> {
        // It fails if this process already has a provider, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let refused = |e: String| DepotError::Refused(e);
        let parsed = url::Url::parse(url).map_err(|e| refused(format!("{url}: {e}")))?;
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let (store, prefix) =
            object_store::parse_url_opts(&parsed, variables).map_err(|e| refused(e.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| refused(e.to_string()))?;
        Ok(Self { store, prefix, runtime })
    }

    /// Returns the names of the objects directly in a folder, and their bytes: some 10 000 at most.
    ///
    /// # Errors
    /// When the store does not answer, or refuses.
    pub fn list(&self, folder: &str) -> Result<Vec<(String, u64)>> {
        let folder = self.path(folder);
        self.runtime.block_on(async {
            let mut names = Vec::new();
            let mut objects = self.store.list(Some(&folder)).take(MAX_NAMES);
            while let Some(object) = objects.next().await {
                let object = object.map_err(error)?;
                let name = object.location.filename().unwrap_or_default().to_string();
                names.push((name, object.size));
            }
            Ok(names)
        })
    }

    /// Returns the bytes of an object.
    ///
    /// # Errors
    /// When the store does not answer, or refuses.
    pub fn read(&self, name: &str) -> Result<Box<dyn Read + '_>> {
        let got = self.runtime.block_on(self.store.get(&self.path(name))).map_err(error)?;
        let (stream, part) = (got.into_stream(), io::Cursor::new(bytes::Bytes::new()));
        Ok(Box::new(Reader { stream, part, runtime: &self.runtime }))
    }

    /// Writes an object. Nobody sees it before it is complete.
    ///
    /// # Errors
    /// When the store does not answer, or refuses, or `content` cannot be read.
    pub fn write(&self, name: &str, content: &mut dyn Read) -> Result<()> {
        let path = self.path(name);
        let mut part = Vec::new();
        let mut next = |part: &mut Vec<u8>| {
            part.clear();
            content
                .take(PART as u64)
                .read_to_end(part)
                .map_err(|e| DepotError::Refused(e.to_string()))
        };
        next(&mut part)?;
        if part.len() < PART {
            let whole = PutPayload::from(std::mem::take(&mut part));
            return self.runtime.block_on(self.store.put(&path, whole)).map(drop).map_err(error);
        }
        let upload = self.runtime.block_on(self.store.put_multipart(&path)).map_err(error)?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART);
        while !part.is_empty() {
            self.runtime.block_on(async {
                upload.wait_for_capacity(2).await.map_err(error)?;
                upload.write(&part);
                Ok::<(), DepotError>(())
            })?;
            next(&mut part)?;
        }
        self.runtime.block_on(upload.finish()).map(drop).map_err(error)
    }

    /// Removes an object.
    ///
    /// # Errors
    /// When the store does not answer, or refuses.
    pub fn remove(&self, name: &str) -> Result<()> {
        self.runtime.block_on(self.store.delete(&self.path(name))).map_err(error)
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').fold(self.prefix.clone(), object_store::path::Path::join)
    }
}

/// The bytes of an object, received when they are read.
struct Reader<'a> {
    stream: BoxStream<'static, object_store::Result<bytes::Bytes>>,
    part: io::Cursor<bytes::Bytes>,
    runtime: &'a Runtime,
}

impl Read for Reader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.part.read(into)?;
            if n > 0 || into.is_empty() {
                return Ok(n);
            }
            match self.runtime.block_on(self.stream.next()) {
                Some(part) => self.part = io::Cursor::new(part.map_err(io::Error::other)?),
                None => return Ok(0),
            }
        }
    }
}

fn error(e: object_store::Error) -> DepotError {
    match e {
        object_store::Error::Generic { .. } => DepotError::Unavailable(e.to_string()),
        e => DepotError::Refused(e.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_written_whole_listed_by_folder_read_and_removed() {
        let bucket = Bucket::open("memory:///team").unwrap();
        let large = vec![7; 2 * PART + 3];
        for (name, content) in [("a/small", &b"one"[..]), ("a/large", &large), ("b/c", b"")] {
            bucket.write(name, &mut &*content).unwrap();
            let mut read = Vec::new();
            bucket.read(name).unwrap().read_to_end(&mut read).unwrap();
            assert!(read == content, "{name}");
        }
        let mut listed = bucket.list("a").unwrap();
        listed.sort();
        assert_eq!(listed, [("large".to_string(), large.len() as u64), ("small".to_string(), 3)]);
        bucket.remove("a/small").unwrap();
        assert!(bucket.read("a/small").is_err() && bucket.list("a").unwrap().len() == 1);
        assert!(bucket.list("nowhere").unwrap().is_empty());
        assert!(Bucket::open("no address").is_err() && Bucket::open("x://y").is_err());
    }
}
