/** What others are to be told. */
export default `
select 1;
`
