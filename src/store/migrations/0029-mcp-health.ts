/** What was seen of the user's servers of tools when somebody looked last, from any machine. `digest` is of their settings: what was seen of others says nothing. */
export default `
create table pawl.mcp_health (
  name text primary key,
  digest text not null,
  health jsonb not null,
  checked_at timestamptz not null
);
`
