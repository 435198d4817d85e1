/** Users, tokens, the audit, and what stops everything. */
export default `
create table pawl.users (
  name text primary key,
  role text not null,
  is_disabled boolean not null default false,
  slots integer check (slots > 0),
  daily_tasks integer check (daily_tasks >= 0),
  created_at timestamptz not null
);
-- Whom the token of Pawl's home stands for.
insert into pawl.users (name, role, created_at) values ('local', 'admin', timestamptz 'epoch');
create index users_slots on pawl.users (name) where slots is not null;

-- Everything that lets somebody in, by the hash of its text: tokens, signed-in browsers, and the codes they sign in with.
create table pawl.tokens (
  id text primary key,
  hash bytea not null unique,
  user_name text not null,
  kind text not null,
  role text,
  name text,
  task_id text references pawl.tasks,
  run_id text references pawl.runs,
  created_at timestamptz not null,
  created_by text not null,
  -- The token that asked for a browser's sign-in, which ends with it.
  asked_by text,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index tokens_user on pawl.tokens (user_name);
create index tokens_newest on pawl.tokens (created_at desc, id desc);

-- How many tasks a user with a daily limit has asked for. Days are those of UTC.
create table pawl.quotas (
  user_name text not null,
  day date not null,
  tasks integer not null,
  primary key (user_name, day)
);

-- An entry is written with the act it tells of and sealed a moment later: it gets its number and the hash that chains it to the one before. One
-- chain for many writers would otherwise make each of them wait for the others.
create table pawl.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor text not null,
  via text not null,
  action text not null,
  subject text not null,
  detail jsonb not null,
  seq bigint unique,
  hash bytea
);
create index audit_unsealed on pawl.audit (id) where seq is null;

create function pawl.keep_audit() returns trigger language plpgsql as $$
begin
  raise exception 'the audit is only ever added to';
end
$$;
-- Sealing is the one change there is, and it changes nothing else.
create trigger audit_is_kept before update on pawl.audit for each row
  when (old.seq is not null or new.seq is null or new.hash is null
    or (old.id, old.at, old.actor, old.via, old.action, old.subject, old.detail) is distinct from (new.id, new.at, new.actor, new.via, new.action, new.subject, new.detail))
  execute function pawl.keep_audit();
create trigger audit_is_whole before delete on pawl.audit for each row execute function pawl.keep_audit();
create trigger audit_is_not_emptied before truncate on pawl.audit for each statement execute function pawl.keep_audit();

-- At most one row, and while it is there nothing is admitted.
create table pawl.halt (
  is_set boolean primary key default true check (is_set),
  at timestamptz not null,
  halted_by text not null,
  reason text
);

alter table pawl.tasks add column user_name text not null default 'local';
`
