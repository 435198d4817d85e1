/** Addresses that clients want told of one task. */
export default `
-- \`sealed\` holds what the address wants to be shown (a token, credentials): only who has the other half of \`sender_key\` can open it, and sends.
create table pawl.task_listeners (
  id text primary key,
  task_id text not null references pawl.tasks on delete cascade,
  user_name text not null references pawl.users on delete cascade,
  name text not null,
  url text not null,
  wire text not null,
  sealed bytea not null,
  sender_key text not null,
  -- What its caller stood for, and the token that ends it when it is revoked; null for the token of the home.
  standing text not null,
  token_id text references pawl.tokens on delete cascade,
  created_at timestamptz not null,
  unique (task_id, user_name, name)
);
create index task_listeners_user on pawl.task_listeners (user_name);
create index task_listeners_token on pawl.task_listeners (token_id) where token_id is not null;
create index task_listeners_sender on pawl.task_listeners (sender_key, id);
-- Whom the events of a task are told, in the row that every writer of events locks: whoever listens before an event is stored hears of it.
alter table pawl.journal_heads add column told text[];
create index outbox_listeners on pawl.outbox (next_at) where kind = 'a2a' and state = 'pending';
`
