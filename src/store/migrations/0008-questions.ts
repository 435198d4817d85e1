/** Deadlines, who may answer, and permissions that were given. */
export default `
select 1;
`
