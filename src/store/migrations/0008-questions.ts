/** What a question waits for and who may answer it, and permissions that were given for one exact call. */
export default `
alter table pawl.questions add column multi_select boolean not null default false;
alter table pawl.questions add column may_answer text[];
alter table pawl.questions add column deadline timestamptz;
alter table pawl.questions add column after_deadline jsonb;
-- The task of another agent that is to answer it.
alter table pawl.questions add column escalated_to text;
-- The fence of the run that waits for the answer right now.
alter table pawl.questions add column held_by integer;
-- Of a permission: the tool, and the digest of exactly what it was to be called with.
alter table pawl.questions add column call jsonb;
create index questions_due on pawl.questions (deadline) where state = 'pending' and deadline is not null;
create index questions_escalated on pawl.questions (escalated_to) where escalated_to is not null;

create table pawl.grants (
  question_id text primary key references pawl.questions on delete cascade,
  task_id text not null,
  session_id text not null,
  tool text not null,
  input_digest text not null,
  verdict text not null,
  -- The words of whoever decided, if they chose none of ours.
  said text,
  -- Of one that counts once: when it ends, and the run that has used it.
  is_once boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  used_at timestamptz,
  used_by_run text
);
create index grants_call on pawl.grants (task_id, tool, input_digest);
`
