/** Secrets, encrypted. */
export default `
-- The number of a version is part of what is sealed with a value, and none is ever used twice: a row can pass neither for another nor for an older one of its name.
create sequence pawl.secret_versions;

create table pawl.secrets (
  scope text not null,
  name text not null,
  version bigint not null,
  nonce bytea not null,
  sealed bytea not null,
  key_fingerprint text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  primary key (scope, name)
);
`
