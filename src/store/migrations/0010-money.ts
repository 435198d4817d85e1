/** What was spent, and on what. */
export default `
select 1;
`
