//! The header before everything that is stored: what it is, how long, and whether it is whole.
//!
//! Little-endian: magic (8 bytes), format version (2), kind (2), fingerprint of the payload's layout
//! (8), length of the payload (8), CRC-32 of all other bytes of the file (4); the payload follows.
//!
//! F1. Nothing is allocated by a length that a file says; it is compared with what is there.

use super::error::{Damage, StorageError};
use bytes::Bytes;
use core::fmt;
use crc32fast::Hasher;

/// The version of the header and of what it stands before.
pub(crate) const FORMAT: u16 = 1;

const MAGIC: [u8; 8] = *b"mailring";
/// Where the CRC stands, after all else.
const CRC_AT: usize = 28;
/// How long the header is, in bytes.
pub(crate) const HEADER_BYTES: usize = CRC_AT + 4;

/// What a stored file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum FileKind {
    /// A record of the commit chain.
    Record = 1,
    /// What a subtask stored.
    State = 2,
}

impl FileKind {
    /// What tells layouts of the payload apart; another text for each that was ever stored.
    const fn fingerprint(self) -> u64 {
        match self {
            Self::Record => fnv1a(b"commit chain record 1: postcard"),
            Self::State => fnv1a(b"subtask state 1: parts, one behind the other"),
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Record => "a record of the commit chain",
            Self::State => "state of a subtask",
        })
    }
}

/// The header of a payload that consists of `parts`, one behind the other.
pub(crate) fn header<'a>(kind: FileKind, parts: impl Iterator<Item = &'a [u8]> + Clone) -> Bytes {
    let len: u64 = parts.clone().map(|part| part.len() as u64).sum();
    let mut header = Vec::with_capacity(HEADER_BYTES);
    header.extend_from_slice(&MAGIC);
    header.extend_from_slice(&FORMAT.to_le_bytes());
    header.extend_from_slice(&(kind as u16).to_le_bytes());
    header.extend_from_slice(&kind.fingerprint().to_le_bytes());
    header.extend_from_slice(&len.to_le_bytes());
    let mut crc = Hasher::new();
    crc.update(&header);
    parts.for_each(|part| crc.update(part));
    header.extend_from_slice(&crc.finalize().to_le_bytes());
    debug_assert_eq!(header.len(), HEADER_BYTES);
    Bytes::from(header)
}

/// The payload of `bytes`, which were read from `file`.
///
/// # Errors
/// [`StorageError::Damaged`] if they are not what `header` and its payload were.
pub(crate) fn payload(kind: FileKind, file: &str, bytes: &Bytes) -> Result<Bytes, StorageError> {
    check(kind, bytes).map_err(|damage| StorageError::Damaged {
        file: file.into(),
        damage,
    })?;
    Ok(bytes.slice(HEADER_BYTES..))
}

fn check(kind: FileKind, bytes: &[u8]) -> Result<(), Damage> {
    let found = bytes.len() as u64;
    if bytes.len() < HEADER_BYTES {
        let expected = HEADER_BYTES as u64;
        return Err(Damage::Truncated { expected, found });
    }
    if bytes[..8] != MAGIC {
        return Err(Damage::Magic);
    }
    let version = u16::from_le_bytes(field(bytes, 8));
    if version != FORMAT {
        return Err(Damage::Version { found: version });
    }
    let found_kind = u16::from_le_bytes(field(bytes, 10));
    if found_kind != kind as u16 {
        return Err(Damage::Kind {
            expected: kind,
            found: found_kind,
        });
    }
    let fingerprint = u64::from_le_bytes(field(bytes, 12));
    if fingerprint != kind.fingerprint() {
        return Err(Damage::Fingerprint {
            expected: kind.fingerprint(),
            found: fingerprint,
        });
    }
    let len = u64::from_le_bytes(field(bytes, 20));
    let expected = len.saturating_add(HEADER_BYTES as u64);
    match found.cmp(&expected) {
        core::cmp::Ordering::Less => return Err(Damage::Truncated { expected, found }),
        core::cmp::Ordering::Greater => return Err(Damage::TooLong { expected, found }),
        core::cmp::Ordering::Equal => {}
    }
    let mut crc = Hasher::new();
    crc.update(&bytes[..CRC_AT]);
    crc.update(&bytes[HEADER_BYTES..]);
    let found = crc.finalize();
    let expected = u32::from_le_bytes(field(bytes, CRC_AT));
    if found == expected {
        Ok(())
    } else {
        Err(Damage::Crc { expected, found })
    }
}

/// The field at `at`; the header was found to be whole.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    core::array::from_fn(|byte| bytes[at + byte])
}

/// FNV-1a, which is enough to tell a few texts apart.
const fn fnv1a(text: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < text.len() {
        hash ^= text[at] as u64;
        hash = hash.wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(kind: FileKind, payload: &[u8]) -> Vec<u8> {
        let header = header(kind, [payload].into_iter());
        [&header[..], payload].concat()
    }

    fn damage(kind: FileKind, bytes: Vec<u8>) -> Damage {
        match payload(kind, "some/file", &Bytes::from(bytes)) {
            Err(StorageError::Damaged { file, damage }) => {
                assert_eq!(&*file, "some/file");
                damage
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_payload_is_read_back() {
        for payload in [&b""[..], b"x", &[7; 1000]] {
            let bytes = Bytes::from(file(FileKind::State, payload));
            assert_eq!(
                super::payload(FileKind::State, "f", &bytes).unwrap(),
                payload
            );
        }
    }

    #[test]
    fn parts_are_one_payload() {
        let in_parts = header(FileKind::State, [&b"ab"[..], b"", b"c"].into_iter());
        assert_eq!(in_parts, header(FileKind::State, [&b"abc"[..]].into_iter()));
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let whole = file(FileKind::Record, b"payload");
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            damage(FileKind::Record, flipped);
        }
    }

    #[test]
    fn every_other_length_is_found() {
        let whole = file(FileKind::Record, b"payload");
        for len in 0..whole.len() {
            let found = damage(FileKind::Record, whole[..len].to_vec());
            let expected = if len < HEADER_BYTES {
                HEADER_BYTES
            } else {
                whole.len()
            };
            let (expected, found_len) = (expected as u64, len as u64);
            assert_eq!(
                found,
                Damage::Truncated {
                    expected,
                    found: found_len
                }
            );
        }
        let (expected, found) = (whole.len() as u64, whole.len() as u64 + 1);
        let longer = [&whole[..], b"x"].concat();
        assert_eq!(
            damage(FileKind::Record, longer),
            Damage::TooLong { expected, found }
        );
    }

    #[test]
    fn what_is_wrong_is_told_apart() {
        let whole = file(FileKind::Record, b"payload");
        let with = |at: usize, bytes: &[u8]| {
            let mut file = whole.clone();
            file[at..at + bytes.len()].copy_from_slice(bytes);
            damage(FileKind::Record, file)
        };
        assert_eq!(with(0, b"M"), Damage::Magic);
        assert_eq!(with(8, &[2, 0]), Damage::Version { found: 2 });
        assert!(matches!(with(10, &[9]), Damage::Kind { found: 9, .. }));
        assert!(matches!(
            with(12, &[0; 8]),
            Damage::Fingerprint { found: 0, .. }
        ));
        assert!(matches!(
            with(20, &[0xff; 8]),
            Damage::Truncated {
                expected: u64::MAX,
                ..
            }
        ));
        assert!(matches!(with(HEADER_BYTES, b"P"), Damage::Crc { .. }));
        let state = damage(FileKind::State, whole.clone());
        assert!(matches!(
            state,
            Damage::Kind {
                expected: FileKind::State,
                found: 1
            }
        ));
    }
}
