/** What somebody has chosen for the next tasks of a session, and when: what a later task was done with counts for more. */
export default `
alter table pawl.sessions add column choices jsonb;
`
