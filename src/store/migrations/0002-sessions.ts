/** The archive of the programs' own session files, and what a session must still tell or be told. */
export default `
create table pawl.session_files (
  id bigint generated always as identity primary key,
  session_id text not null references pawl.sessions,
  vendor_id text not null,
  path text not null,
  is_main boolean not null,
  size bigint not null,
  tail_digest bytea not null,
  is_whole boolean not null,
  archived_at timestamptz not null,
  unique (session_id, vendor_id, path)
);

-- A file is the chunks of its id from start 0 on, without a gap. They name the file by number: a path in every row would cost as much as a short turn.
-- The bytes are zstd frames; the server's own compression would only cost time.
create table pawl.session_chunks (
  file_id bigint not null references pawl.session_files on delete cascade,
  start bigint not null,
  length integer not null check (length > 0),
  bytes bytea not null check (octet_length(bytes) <= 1048576),
  primary key (file_id, start)
);
alter table pawl.session_chunks alter column bytes set storage external;

-- True while the program knows nothing of what the journal holds, and is to be told it with the next message.
alter table pawl.sessions add column retell boolean not null default false;
-- Where an adopted conversation came from, until the first run has said so in its journal.
alter table pawl.sessions add column adopted_from text;

-- A JSON schema that the answer must fit.
alter table pawl.tasks add column output_schema jsonb;

create index tasks_session on pawl.tasks (session_id);
`
