//! The schema of the database, as the migrations that lead to it.

/// The migrations. Each adds one version of the schema; `user_version` holds the number of the last
/// one applied.
pub(super) const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE counters(name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO counters VALUES('identity', random());
    CREATE TABLE bodies(number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, text TEXT NOT NULL);
    CREATE TABLE memories(
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        body INTEGER NOT NULL REFERENCES bodies(number),
        source_name TEXT NOT NULL,
        source TEXT NOT NULL,
        operation TEXT,
        file_path TEXT,
        session_id TEXT NOT NULL,
        group_id TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        chunk_metadata TEXT,
        word_count INTEGER NOT NULL,
        pinned INTEGER NOT NULL,
        code TEXT NOT NULL,
        change INTEGER NOT NULL
    );
    CREATE INDEX memories_by_session ON memories(session_id, created_at);
    CREATE INDEX memories_by_source ON memories(source_name, created_at);
    CREATE INDEX memories_by_time ON memories(created_at);
    CREATE INDEX memories_by_file ON memories(file_path, created_at) WHERE file_path IS NOT NULL;
    CREATE INDEX memories_by_change ON memories(change);
    CREATE INDEX memories_by_body ON memories(body);
    CREATE INDEX memories_pinned ON memories(pinned) WHERE pinned;
    CREATE TABLE vectors(
        memory INTEGER NOT NULL REFERENCES memories(number) ON DELETE CASCADE,
        embedder TEXT NOT NULL,
        passage BLOB NOT NULL,
        scale REAL NOT NULL,
        components BLOB NOT NULL,
        PRIMARY KEY(memory, embedder)
    ) WITHOUT ROWID;
    CREATE INDEX vectors_by_passage ON vectors(embedder, passage);
    CREATE TABLE sessions(
        id TEXT PRIMARY KEY,
        started_at INTEGER NOT NULL,
        ended_at INTEGER,
        status TEXT NOT NULL,
        process TEXT
    ) WITHOUT ROWID;
    CREATE TABLE file_hashes(path TEXT PRIMARY KEY, hash TEXT NOT NULL, processed_at INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE given(session_id TEXT NOT NULL, memory TEXT NOT NULL, PRIMARY KEY(session_id, memory)) WITHOUT ROWID;
",
    "
    CREATE TABLE changes(
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL,
        before TEXT,
        after TEXT,
        symbols TEXT NOT NULL,
        session_id TEXT NOT NULL,
        at INTEGER NOT NULL
    );
    CREATE TABLE git_positions(tree TEXT PRIMARY KEY, position TEXT NOT NULL) WITHOUT ROWID;
",
    "
    ALTER TABLE memories ADD COLUMN derived_from TEXT NOT NULL DEFAULT '[]';
",
    "
    CREATE TABLE project(id TEXT NOT NULL);
    INSERT INTO project VALUES(lower(hex(randomblob(16))));
",
    // The author of a statement follows from the texts that it was recognised in.
    "
    ALTER TABLE memories ADD COLUMN said_by TEXT;
    ALTER TABLE memories ADD COLUMN superseded_by TEXT;
    ALTER TABLE changes ADD COLUMN worktree TEXT NOT NULL DEFAULT '';
    CREATE INDEX memories_superseded ON memories(superseded_by) WHERE superseded_by IS NOT NULL;
    UPDATE memories SET said_by = CASE WHEN EXISTS(
        SELECT 1 FROM json_each(memories.derived_from) d JOIN memories o ON o.id = d.value
        WHERE o.source_name = 'hook_description'
    ) THEN 'person' ELSE 'agent' END
    WHERE source_name = 'message' AND derived_from <> '[]';
",
];
