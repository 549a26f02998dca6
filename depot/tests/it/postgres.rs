use std::time::Duration;

use cortex_depot::postgres::{Options, Postgres, SCORED};
use cortex_depot::shelf::Shelf;
use cortex_depot::{At, Depot, DepotError, FILE, FactName, Row, Wanted};

use crate::laws::{self, Precision, Random, refusal};
use crate::server::Server;

fn address(port: u16) -> String {
    format!("postgres://postgres:hidden@127.0.0.1:{port}/postgres")
}

/// A depot on a server of its own.
fn depot() -> Option<(Postgres, Server)> {
    let server = Server::start("postgres")?;
    Some((Postgres::new(&address(server.port), &Options::default()).unwrap(), server))
}

#[test]
fn postgres_keeps_the_laws() {
    let Some((depot, _server)) = depot() else { return };
    laws::all(&depot, Precision { words: 1e-5, vector: 2e-3 });
}

#[test]
fn a_depot_survives_a_killed_postgres() {
    let Some((depot, server)) = depot() else { return };
    let server = std::sync::Mutex::new(server);
    let kill = || server.lock().unwrap().kill();
    laws::a_depot_survives_its_server(&depot, kill, || server.lock().unwrap().start_again());
}

#[test]
fn other_tables_and_values_that_are_not_valid_are_refused() {
    let Some((depot, server)) = depot() else { return };
    laws::what_is_not_valid_is_refused(&depot, 16_001, "16000");
    // Nothing that a caller gives becomes part of a statement.
    assert_eq!(depot.records(Some(&["'; DROP SCHEMA cortex CASCADE; --".into()])).unwrap(), []);
    depot.prepare(4).unwrap();

    sql(&server, "UPDATE cortex.version SET version = 2");
    assert!(refusal(depot.prepare(4)).contains("have version 2, and this program reads version 1"));
    sql(&server, "DELETE FROM cortex.version");
    assert!(matches!(depot.prepare(4), Err(DepotError::Damaged(_))));
}

/// Runs a statement beside the depot, and returns the rows of its answer.
pub fn sql(server: &Server, text: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let tls = tokio_postgres::NoTls;
        let (client, driver) = tokio_postgres::connect(&address(server.port), tls).await.unwrap();
        tokio::spawn(driver);
        let messages = client.simple_query(text).await.unwrap();
        let row = |message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => {
                let values = (0..row.len()).map(|column| row.get(column).unwrap_or_default());
                Some(values.collect::<Vec<_>>().join(" "))
            }
            _ => None,
        };
        messages.into_iter().filter_map(row).collect()
    })
}

#[test]
fn addresses_stay_secret_and_waits_end() {
    let secret = "s3cr3t";
    for address in [
        format!("postgres://cortex:{secret}@127.0.0.1:1/db"),
        format!("postgres://cortex:{secret}@127.0.0.1:1/db?sslmode=require"),
        format!("postgres://cortex:{secret}@127.0.0.1:{secret}/db"),
        format!("host=127.0.0.1 password={secret} {secret}=1"),
    ] {
        let told = match Postgres::new(&address, &Options::default()) {
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
    let why = refusal(Postgres::new("postgres://localhost/db", &missing));
    assert!(why.contains("no/such.pem"), "{why}");

    // A peer that accepts and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = Duration::from_millis(200);
    let options = Options { connect, ..Options::default() };
    let depot = Postgres::new(&address(silent.local_addr().unwrap().port()), &options).unwrap();
    let begun = std::time::Instant::now();
    assert!(matches!(depot.records(None), Err(DepotError::Unavailable(_))));
    assert!(begun.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_slow_call_is_unavailable_and_leaves_nothing() {
    let Some((depot, server)) = depot() else { return };
    depot.prepare(4).unwrap();
    let options = Options { call: Duration::from_millis(300), ..Options::default() };
    let hasty = Postgres::new(&address(server.port), &options).unwrap();
    let record = cortex_depot::Record { name: "r".into(), version: 1, text: String::new() };
    let lock = "BEGIN; LOCK TABLE cortex.records; SELECT pg_sleep(1.5); COMMIT";
    std::thread::scope(|scope| {
        scope.spawn(|| sql(&server, lock));
        std::thread::sleep(Duration::from_millis(400));
        assert!(matches!(hasty.replace(&record), Err(DepotError::Unavailable(_))));
    });
    assert_eq!(hasty.records(None).unwrap(), []);
    assert!(hasty.replace(&record).unwrap());
}

#[test]
fn rare_words_find_the_best_of_a_large_repository() {
    let Some((depot, _server)) = depot() else { return };
    depot.prepare(0).unwrap();
    let (at, random) = (At { repository: 7, generation: 1 }, &mut Random(3));
    let mut rows = Vec::new();
    for file in 0..SCORED as i64 + 5_000 {
        // One word of all rows, one of a third, and one of a hundredth.
        let words = [(1, 1), (2, 3), (3, 100)].into_iter();
        let words = words.filter(|word| file % word.1 == 0).map(|word| (word.0, random.unit()));
        rows.push(Row { file, words: words.collect(), vector: vec![], keys: vec![5] });
    }
    let shelf = Shelf::default();
    let sorted = |depot: &dyn Depot, wanted: &Wanted| {
        let mut files = depot.propose(at, wanted).unwrap();
        files.sort_unstable();
        files
    };
    for depot in [&depot as &dyn Depot, &shelf] {
        depot.insert(at, &rows, &[]).unwrap();
        depot.retire(At { generation: 2, ..at }, &[FactName { kind: FILE, key: 300 }]).unwrap();
    }
    let wanted = |words: &[(u32, f32)]| Wanted {
        words: vec![words.to_vec()],
        only: vec![vec![5]],
        limit: 60,
        ..Wanted::default()
    };
    for words in
        [&[(1, 0.1), (2, 1.0), (3, 4.0)][..], &[(2, 1.0), (3, 4.0)], &[(3, 1.0)], &[(2, 1.0)]]
    {
        let wanted = wanted(words);
        assert_eq!(sorted(&depot, &wanted), sorted(&shelf, &wanted), "{words:?}");
    }
    // A word of too many rows: some of the good ones.
    let best = Wanted { limit: 1_000, ..wanted(&[(1, 1.0)]) };
    let files = sorted(&depot, &wanted(&[(1, 1.0)]));
    assert_eq!(files.len(), 60);
    let best = sorted(&shelf, &best);
    assert!(files.iter().all(|file| best.contains(file)));
}
