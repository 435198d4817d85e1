/** Browsers that want to be told. */
export default `
create table pawl.push_subscriptions (
  id text primary key,
  user_name text not null references pawl.users on delete cascade,
  -- The sign-in that asked for it, and ends it; null for the token of the home.
  token_id text references pawl.tokens on delete cascade,
  endpoint text not null unique,
  p256dh text not null,
  auth text not null,
  -- The public key that the browser was given: only who has its other half can send.
  sender_key text not null,
  events text[] not null,
  label text not null,
  created_at timestamptz not null
);
create index push_subscriptions_user on pawl.push_subscriptions (user_name);
create index push_subscriptions_token on pawl.push_subscriptions (token_id) where token_id is not null;
`
