/** What stood in files when it was last looked at: whoever changes a file changes what agents may do, and the audit tells of it. */
export default `
create table pawl.noticed (
  kind text not null,
  name text not null,
  digest text not null,
  noticed_at timestamptz not null,
  primary key (kind, name)
);
`
