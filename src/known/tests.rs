use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use super::*;

const MAX: u64 = 64 << 20;

type Damage = fn(&mut Vec<u8>);

fn key(n: usize) -> Key {
    format!("{n:064x}")
}

fn packed(n: usize, value: &[u8]) -> (Key, Packed) {
    (key(n), pack(&key(n), value).unwrap())
}

fn store(max_bytes: u64) -> (tempfile::TempDir, KnownStore, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let database = temp.path().join(PLACE).join(DATABASE);
    let store = KnownStore::new(temp.path().into(), max_bytes).unwrap();
    (temp, store, database)
}

#[test]
fn a_value_is_known_to_the_next_process_and_only_under_its_key() {
    let (_temp, store, database) = store(MAX);
    store.open().unwrap().put(&[packed(1, b"one"), packed(2, b"")]);
    let known = store.open().unwrap();
    assert_eq!(known.get(&key(1)).as_deref(), Some(&b"one"[..]));
    assert_eq!(known.get(&key(2)).as_deref(), Some(&b""[..]));
    assert_eq!(known.get(&key(3)), None);
    known.put(&[packed(1, b"another")]);
    assert_eq!(known.get(&key(1)).as_deref(), Some(&b"another"[..]));
    let mode = fs::metadata(database.parent().unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn any_other_byte_makes_a_value_unknown() {
    let (key, Packed(stored)) = packed(1, b"the chunks of a file");
    assert!(unpack(&key, &stored).is_some() && unpack(&super::tests::key(2), &stored).is_none());
    for at in 0..stored.len() {
        let mut other = stored.clone();
        other[at] ^= 1;
        assert_eq!(unpack(&key, &other), None, "byte {at}");
        assert_eq!(unpack(&key, &stored[..at]), None, "cut at {at}");
    }
}

#[test]
fn a_damaged_database_is_made_anew() {
    let (_temp, store, database) = store(MAX);
    let values: Vec<_> =
        (0..200).map(|n| packed(n, &[0; 3000].map(|_: u8| fastrand::u8(..)))).collect();
    store.open().unwrap().put(&values);
    let whole = fs::read(&database).unwrap();
    let damages: [(&str, Damage); 3] = [
        ("no database", |bytes| bytes.fill(b'x')),
        ("cut", |bytes| bytes.truncate(bytes.len() / 2)),
        ("pages overwritten", |bytes| bytes[8192..].fill(0xff)),
    ];
    for (what, damage) in damages {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        fs::write(&database, bytes).unwrap();
        let known = store.open().unwrap();
        for (key, Packed(stored)) in &values {
            let value = known.get(key);
            assert!(value.is_none() || value == unpack(key, stored), "{what}: a wrong value");
        }
        known.put(&values);
        drop(known);
        let known = store.open().unwrap();
        assert!(values.iter().all(|(key, _)| known.get(key).is_some()), "{what}: not made anew");
    }
}

#[test]
fn the_store_stays_below_its_limit_and_forgets_what_was_not_used_for_longest() {
    const LIMIT: u64 = 2 << 20;
    let (_temp, store, database) = store(LIMIT);
    for batch in 0..20 {
        let mut known = store.open().unwrap();
        known.today += batch;
        let one = |n| packed(n, &[0; 4000].map(|_: u8| fastrand::u8(..)));
        let first = usize::try_from(batch).unwrap() * 50 + 1;
        known.put(&[one(0)]);
        known.put(&(first..first + 50).map(one).collect::<Vec<_>>());
        drop(known);
        let bytes = fs::metadata(&database).unwrap().len();
        assert!(bytes <= LIMIT, "{bytes} bytes after {batch} batches");
    }
    let known = store.open().unwrap();
    assert!(known.get(&key(1)).is_none(), "the oldest");
    assert!(known.get(&key(0)).is_some() && known.get(&key(1000)).is_some(), "used and new");
}

#[test]
fn a_store_that_others_can_reach_is_not_used() {
    let (temp, store, database) = store(MAX);
    let folder = database.parent().unwrap();
    fs::create_dir_all(folder).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(store.open().is_none(), "everybody may write to it");
    fs::remove_dir(folder).unwrap();
    let elsewhere = temp.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&elsewhere, folder).unwrap();
    assert!(store.open().is_none(), "a link");
    fs::remove_file(folder).unwrap();
    drop(store.open().unwrap());
    fs::remove_file(&database).unwrap();
    symlink(elsewhere.join("other"), &database).unwrap();
    assert!(store.open().is_none(), "the database is a link");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn many_writers_and_readers_agree() {
    let (_temp, store, _) = store(MAX);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let known = store.open().unwrap();
                for n in 0..200 {
                    let value = known.get(&key(n));
                    assert!(value.is_none_or(|value| value == n.to_le_bytes()));
                    known.put(&[packed(n, &n.to_le_bytes())]);
                }
            });
        }
    });
    let known = store.open().unwrap();
    assert!((0..200).all(|n| known.get(&key(n)).is_some()));
}
