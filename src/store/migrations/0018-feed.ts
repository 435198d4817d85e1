/**
 * Which transaction stored an event, so that the events of all tasks can be followed without a gap: a reader remembers the snapshot that it has seen, and asks for
 * what has become visible since. Numbers given out in order would not do, because transactions do not commit in that order.
 */
export default `
alter table pawl.events add column xact xid8 not null default pg_current_xact_id();
create index events_xact on pawl.events (xact);
`
