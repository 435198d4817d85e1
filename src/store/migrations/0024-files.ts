/**
 * Files that are handed in with tasks, and that agents leave for people. What is in them is kept once, by its hash: small ones as parts here, larger ones as files of the
 * home, unless several machines share this database. A blob that nothing refers to is swept.
 */
export default `
create table pawl.blobs (
  sha256 text primary key,
  size bigint not null,
  in_file boolean not null,
  created_at timestamptz not null
);
create table pawl.blob_parts (
  sha256 text not null references pawl.blobs on delete cascade,
  number integer not null,
  bytes bytea not null,
  primary key (sha256, number)
);
alter table pawl.blob_parts alter column bytes set storage external;
create table pawl.uploads (
  id text primary key,
  sha256 text not null references pawl.blobs,
  name text not null,
  type text not null,
  size bigint not null,
  user_name text not null,
  created_at timestamptz not null
);
create index uploads_sha256 on pawl.uploads (sha256);
create index uploads_created on pawl.uploads (created_at);
create table pawl.attachments (
  task_id text not null references pawl.tasks on delete cascade,
  number integer not null,
  sha256 text not null references pawl.blobs,
  primary key (task_id, number)
);
create index attachments_sha256 on pawl.attachments (sha256);
create table pawl.artifacts (
  id text primary key,
  task_id text not null references pawl.tasks on delete cascade,
  run_id text references pawl.runs on delete set null,
  sha256 text not null references pawl.blobs,
  name text not null,
  type text not null,
  size bigint not null,
  created_at timestamptz not null,
  unique (task_id, name)
);
create index artifacts_sha256 on pawl.artifacts (sha256);
create index artifacts_run on pawl.artifacts (run_id);
alter table pawl.sessions add column has_attachments boolean not null default false;
`
