/** A browser's sign-in ends with the token that asked for it. */
export default `
alter table pawl.tokens add column asked_by text;
`
