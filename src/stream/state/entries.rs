//! Entries of one key group of one state as bytes: how many there are, and then each.

use core::fmt;
use postcard::ser_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes are put behind those that are there.
struct Behind<'a>(&'a mut Vec<u8>);

impl Flavor for Behind<'_> {
    type Output = ();

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// Why entries cannot be turned into bytes, or bytes into entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Serde, or the format, refuses.
    Format(postcard::Error),
    /// An entry that was just encoded is another one when it is read back.
    NotTheSame,
    /// There are more entries, or fewer, than is said.
    OtherCount,
    /// A key is not in the key group it was found in.
    OtherKeyGroup(u32),
    /// Two entries are for the same thing.
    Twice,
}

impl From<postcard::Error> for Unreadable {
    fn from(error: postcard::Error) -> Self {
        Self::Format(error)
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(error) => write!(f, "{error}"),
            Self::NotTheSame => f.write_str(
                "an entry that is read back is not what it was: serde must neither skip nor \
                 flatten fields, and enums must be tagged as they are by default",
            ),
            Self::OtherCount => f.write_str("there are not as many entries as it says"),
            Self::OtherKeyGroup(found) => write!(f, "it has a key of key group {found}"),
            Self::Twice => f.write_str("it has an entry twice"),
        }
    }
}

/// Puts the bytes of `value` behind those in `out`.
#[inline]
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> postcard::Result<()> {
    postcard::serialize_with_flavor(value, Behind(out))
}

/// Encodes `count` entries. The first is read back, as `is_same` compares it: a type that cannot be
/// read back is found while the state is stored, and not when it is needed.
pub(crate) fn encode_entries<E: Serialize, D: DeserializeOwned>(
    count: usize,
    mut entries: impl Iterator<Item = E>,
    is_same: impl FnOnce(&E, &D) -> bool,
    out: &mut Vec<u8>,
) -> Result<(), Unreadable> {
    encode(&count, out)?;
    if let Some(first) = entries.next() {
        let start = out.len();
        encode(&first, out)?;
        match postcard::take_from_bytes::<D>(&out[start..]) {
            Ok((same, [])) if is_same(&first, &same) => {}
            Ok(_) => return Err(Unreadable::NotTheSame),
            Err(error) => return Err(error.into()),
        }
    }
    for entry in entries {
        encode(&entry, out)?;
    }
    Ok(())
}

/// Entries that are decoded one by one, as many as it says there are.
pub(crate) struct Entries<'a> {
    bytes: &'a [u8],
    left: usize,
}

impl<'a> Entries<'a> {
    /// What [`encode_entries`] has encoded.
    ///
    /// # Errors
    /// Where there cannot be as many entries as it says.
    pub(crate) fn of(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let (left, bytes) = postcard::take_from_bytes::<usize>(bytes)?;
        // Entries of no bytes at all are equal, and their key with them.
        if left > bytes.len().max(1) {
            return Err(Unreadable::OtherCount);
        }
        Ok(Self { bytes, left })
    }

    /// For how many entries, of type `T` in memory, room is to be made. Where the count is wrong, that
    /// is a few times the memory the bytes take at most.
    pub(crate) fn capacity<T>(&self) -> usize {
        const BYTES_PER_BYTE: usize = 16;
        let bytes = self.bytes.len().saturating_mul(BYTES_PER_BYTE);
        self.left.min(bytes / size_of::<T>().max(1) + 1)
    }

    /// The next entry.
    ///
    /// # Errors
    /// Where it cannot be read, and where something is left behind the last one.
    #[inline]
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Unreadable> {
        if self.left == 0 {
            return match self.bytes {
                [] => Ok(None),
                _ => Err(Unreadable::OtherCount),
            };
        }
        let (entry, rest) = postcard::take_from_bytes(self.bytes)?;
        self.bytes = rest;
        self.left -= 1;
        Ok(Some(entry))
    }
}
