/** Tasks that come again. */
export default `
select 1;
`
