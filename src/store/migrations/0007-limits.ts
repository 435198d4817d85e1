/** Accounts that cool down. */
export default `
select 1;
`
