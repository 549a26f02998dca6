use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cortex_depot::milvus::{Milvus, Options};
use cortex_depot::{At, Depot, DepotError, FILE, Fact, FactName, Record, Row, Wanted};
use milvus::v2::prelude::{
    ClientV2, ConnectConfig, DeleteRequest, FieldData, FlushRequest, InsertRequest,
};

use crate::laws::{self, Precision, Random, normal, refusal};
use crate::server::Server;

const PRECISION: Precision = Precision { words: 1e-5, vector: 1e-2 };

fn address(port: u16) -> String {
    format!("milvus://root:hidden@127.0.0.1:{port}")
}

/// A depot on a server of its own.
fn depot() -> Option<(Milvus, Server)> {
    let server = Server::start("milvus")?;
    Some((Milvus::new(&address(server.port), &Options::default()).unwrap(), server))
}

/// Does something beside the depot.
fn beside<T>(server: &Server, work: impl AsyncFnOnce(ClientV2) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = ConnectConfig::new().uri(format!("http://127.0.0.1:{}", server.port));
    runtime.block_on(async { work(ClientV2::new(&config).await.unwrap()).await })
}

fn flush(server: &Server) {
    let request = FlushRequest::builder().collection_names(["cortex_rows"]).build().unwrap();
    beside(server, async |client| client.flush(request).await.map(drop).unwrap());
}

#[test]
fn milvus_keeps_the_laws() {
    let Some((depot, _server)) = depot() else { return };
    laws::all(&depot, PRECISION);
}

#[test]
fn proposals_come_from_the_indexes_too() {
    let Some((depot, server)) = depot() else { return };
    depot.prepare(laws::VECTOR).unwrap();
    // A segment that is flushed has indexes.
    laws::proposals_are_those_of_a_shelf(&depot, PRECISION, &|| flush(&server));
}

#[test]
fn a_depot_survives_a_killed_milvus() {
    let Some((depot, server)) = depot() else { return };
    let server = std::sync::Mutex::new(server);
    let kill = || server.lock().unwrap().kill();
    laws::a_depot_survives_its_server(&depot, kill, || server.lock().unwrap().start_again());
}

#[test]
fn other_collections_and_values_that_are_not_valid_are_refused() {
    let Some((depot, _server)) = depot() else { return };
    laws::what_is_not_valid_is_refused(&depot, 40_000, "32768");
    let long = Record { name: "n".repeat(1_001), version: 1, text: String::new() };
    refusal(depot.replace(&long));
}

#[test]
fn more_rows_than_an_answer_holds_come_back() {
    let Some((depot, _server)) = depot() else { return };
    depot.prepare(0).unwrap();
    let at = At { repository: 1, generation: 1 };
    let fact = |key| Fact { kind: FILE, key, hash: key * 7, data: vec![] };
    let facts: Vec<Fact> = (0..17_000).map(fact).collect();
    depot.insert(at, &[], &facts).unwrap();
    let before = depot.requests();
    let mut names = depot.names(at, FILE).unwrap();
    // A full page, the number, and three ranges of ids.
    assert_eq!(depot.requests() - before, 5);
    names.sort_unstable();
    let wanted = (0..17_000).map(|key| (FactName { kind: FILE, key }, key * 7));
    assert!(names.into_iter().eq(wanted));
}

/// Inserts the claim of another publisher.
fn claim(server: &Server, record: i64, id: i64, ago: Duration) {
    let at = SystemTime::now().checked_sub(ago).unwrap().duration_since(UNIX_EPOCH).unwrap();
    let numbers = [
        ("id", id),
        ("key", record),
        ("what", 1),
        ("number", at.as_secs() as i64),
        ("writer", id),
        ("part", 0),
        ("parts", 0),
        ("size", 0),
    ];
    let mut columns: Vec<FieldData> =
        numbers.iter().map(|(name, value)| FieldData::int64(*name, vec![*value])).collect();
    columns.push(FieldData::varchar("name", vec!["a".into()]));
    columns.push(FieldData::varchar("text", vec![String::new()]));
    columns.push(FieldData::float_vector("tiny", vec![vec![0.0; 2]]));
    let request = InsertRequest::builder().collection_name("cortex_records").columns(columns);
    let request = request.build().unwrap();
    beside(server, async |client| client.insert(request).await.map(drop).unwrap());
}

#[test]
fn a_publisher_waits_for_those_that_live_and_not_for_the_dead() {
    let Some((depot, server)) = depot() else { return };
    depot.prepare(0).unwrap();
    // FNV-1a of "a".
    let key = 0xaf63_dc4c_8601_ec8c_u64.cast_signed();
    let record = |version| Record { name: "a".into(), version, text: "t".into() };
    claim(&server, key, 1, Duration::from_mins(6));
    let begun = Instant::now();
    assert!(depot.replace(&record(1)).unwrap());
    assert!(begun.elapsed() < Duration::from_secs(5));
    claim(&server, key, 2, Duration::ZERO);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| depot.replace(&record(2)).unwrap());
        std::thread::sleep(Duration::from_millis(700));
        assert!(!waiting.is_finished());
        let request = DeleteRequest::builder().collection_name("cortex_records");
        let request = request.filter("id in [2]").build().unwrap();
        beside(&server, async |client| client.delete(request).await.map(drop).unwrap());
        assert!(waiting.join().unwrap());
    });
    // Nothing is left but the record: the next one takes no longer.
    let before = depot.requests();
    assert!(depot.replace(&record(3)).unwrap());
    assert_eq!(depot.requests() - before, 6);
    assert_eq!(depot.records(None).unwrap(), [record(3)]);
}

#[test]
fn addresses_stay_secret_and_waits_end() {
    let secret = "s3cr3t";
    let options = Options { connect: Duration::from_millis(200), ..Options::default() };
    for address in [
        format!("milvus://cortex:{secret}@127.0.0.1:1/db"),
        format!("milvus://:{secret}@127.0.0.1:1?tls=require"),
        format!("milvus://cortex:{secret}@127.0.0.1:{secret}/db"),
        format!("milvus://cortex:{secret}@127.0.0.1:1/?{secret}=1"),
        format!("postgres://cortex:{secret}@127.0.0.1:1"),
    ] {
        let told = match Milvus::new(&address, &options) {
            Ok(depot) => {
                let error = depot.records(None).unwrap_err();
                assert!(matches!(error, DepotError::Unavailable(_)), "{error:?}");
                format!("{depot:?} {error:?} {error}")
            }
            Err(error) => format!("{error:?} {error}"),
        };
        assert!(!told.contains(secret), "{told}");
    }
    let missing = Options { root: Some("no/such.pem".into()), ..Options::default() };
    let why = refusal(Milvus::new("milvus://example.org/db", &missing));
    assert!(why.contains("no/such.pem"), "{why}");

    // A peer that accepts and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let depot = Milvus::new(&address(silent.local_addr().unwrap().port()), &options).unwrap();
    let begun = Instant::now();
    assert!(matches!(depot.records(None), Err(DepotError::Unavailable(_))));
    assert!(begun.elapsed() < Duration::from_secs(3));
}

/// Rows and facts of ten files: 20 chunks each of 100 words, 256 dimensions and 5 keys, and a fact of
/// 10 000 bytes.
fn files(first: i64) -> (Vec<Row>, Vec<Fact>) {
    let random = &mut Random(1);
    let mut word = |file: i64, n: u32| (n * 9_000_000 + file as u32, random.unit());
    let mut row = |file: i64| Row {
        file,
        words: (0..100).map(|n| word(file, n)).collect(),
        vector: normal((0..256).map(|n| ((n * file + 7) % 31) as f32 - 15.5).collect()),
        keys: (0..5).collect(),
    };
    let files = first..first + 10;
    let rows = files.clone().flat_map(|file| vec![file; 20]).map(&mut row).collect();
    let random = &mut Random(2);
    let mut data = || (0..10_000).map(|_| random.below(256) as u8).collect();
    (rows, files.map(|key| Fact { kind: FILE, key, hash: key, data: data() }).collect())
}

#[test]
fn calls_are_few_requests() {
    let Some((depot, mut server)) = depot() else { return };
    depot.prepare(256).unwrap();
    let at = |generation| At { repository: 1, generation };
    let requests = |most: u64, call: &dyn Fn()| {
        let before = depot.requests();
        let begun = Instant::now();
        call();
        let n = depot.requests() - before;
        println!("{n} requests, {:?}", begun.elapsed());
        assert_eq!(n, most);
    };
    let (rows, facts) = files(0);
    // Reads the length of the vectors, which an insertion of facts does not need.
    requests(2, &|| depot.insert(at(1), &rows, &[]).unwrap());
    let of_rows = (server.bytes(), rows.len());
    requests(1, &|| depot.insert(at(1), &[], &facts).unwrap());
    println!(
        "{} bytes a row, {} a fact of 10 000",
        of_rows.0 / of_rows.1 as u64,
        (server.bytes() - of_rows.0) / facts.len() as u64
    );
    let wanted = Wanted {
        words: vec![rows[0].words.clone(), rows[50].words.clone()],
        vector: rows[70].vector.clone(),
        keys: vec![vec![1], vec![2, 3]],
        only: vec![vec![4]],
        limit: 150,
    };
    // All lists of words at once, the vector, and each set of keys.
    requests(4, &|| assert!(!depot.propose(at(1), &wanted).unwrap().is_empty()));
    let keys: Vec<i64> = (0..10).collect();
    requests(2, &|| assert_eq!(depot.facts(at(1), FILE, &keys).unwrap().len(), 10));
    requests(1, &|| assert_eq!(depot.names(at(1), FILE).unwrap().len(), 10));
    let names: Vec<FactName> = (0..5).map(|key| FactName { kind: FILE, key }).collect();
    // Ids and an update, of rows and of facts.
    requests(4, &|| depot.retire(at(2), &names).unwrap());
    requests(2, &|| assert_eq!(depot.size(1).unwrap().bytes, 100_000));
    requests(6, &|| depot.undo(at(1)).unwrap());
    depot.retire(at(2), &names).unwrap();
    requests(5, &|| assert_eq!(depot.collect(at(2)).unwrap(), 105));
    let record = Record { name: "r".into(), version: 1, text: "text".into() };
    requests(6, &|| assert!(depot.replace(&record).unwrap()));
    requests(2, &|| assert_eq!(depot.records(None).unwrap().len(), 1));
    requests(6, &|| depot.remove(1, "r").unwrap());
}
