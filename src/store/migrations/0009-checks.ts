/** What proved that work is done. */
export default `
select 1;
`
