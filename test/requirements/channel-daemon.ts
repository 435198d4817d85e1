import type { Requirement } from './requirement.ts'

/** S3 and W3: messages pulled from elsewhere, answered by an agent, delivered once. */
export const channelDaemon = {
  // Messages in, replies out
  'S3-1': { means: 'A channel polls for messages; an empty poll is no message.', open: 27 },
  'S3-2': { means: 'Each message is one task; its reply is the trimmed answer.', open: 27 },
  'S3-3': {
    means: 'A user gets the reply as a message, a peer as the answer to its own; then the row is acknowledged.',
    open: 27,
  },
  'S3-4': { means: 'A message is acknowledged only when its reply is safe; until then it comes again.', open: 27 },
  'S3-5': { means: 'One session per counterpart, kept over restarts.', open: 27 },
  'S3-6': {
    means: 'The text parts of a message are joined.',
    shown: [
      'test/a2a/server.test.ts > the text parts of a message are joined, and one without text is answered and starts nothing',
    ],
  },

  // Running the program
  'S3-7': {
    means: 'A missing program is refused at once, with how to install it and how to name another path.',
    shown: ['test/e2e/run.test.ts > refuses %s in a sentence'],
  },
  'S3-8': {
    means: 'An adapter keeps no state between runs; Pawl keeps the sessions.',
    shown: [
      'test/real-agents/claude-code-adapter.test.ts > it answers under the id it was given, warm for the next turn, and can be resumed by another process',
      'test/real-agents/codex-adapter.test.ts > %s: it answers, tells what it used, and can be resumed by another process',
      'test/contracts/real-program.ts > goes on after its session files were deleted: they are put back',
    ],
  },
  'S3-9': {
    means: 'codex runs without a person, outside a git repository, and resumes by id.',
    shown: [
      'src/agents/codex/command.test.ts > exec takes its prompt by stdin, resumed or not, with the schema as a file',
      'test/real-agents/codex-adapter.test.ts > %s: it answers, tells what it used, and can be resumed by another process',
    ],
  },
  'S3-10': {
    means: 'A timed-out turn is killed and reaped, says after how long, and keeps its session.',
    shown: [
      'test/engine/program-runs.test.ts > a turn that takes too long is ended, says after how long, and its conversation goes on',
      'test/contracts/real-program.ts > that says nothing is stopped after the silence that is allowed, tried again in its conversation, and reported',
    ],
  },
  'S3-11': {
    means: 'Bad bytes are replaced; the end of stderr is kept with the run.',
    shown: [
      'test/contracts/adapter.ts > answers in spite of bytes that are no UTF-8',
      'test/engine/run.test.ts > tells the user a plain sentence and the log the rest',
    ],
  },
  'S3-12': {
    means: 'A session id may be read from what the program prints; not finding one is no error.',
    shown: [
      'src/agents/custom/agent.test.ts > the id of a conversation is found in the declared stream alone, in any case, and told at once',
      'src/agents/custom/agent.test.ts > a stream that says %j has no id, and that is no error',
      'test/engine/custom-sessions.test.ts > begins anew where it names none, and that is no error',
    ],
  },
  'S3-13': {
    means: 'A finished run is one unchanging record: text, session id, exit code, end of stderr.',
    shown: [
      'test/engine/forgetful-agent.test.ts > a run that has ended is one record that nothing changes: its text, session, exit code and last words',
    ],
  },
  'S3-14': {
    means: 'A bad exit is told to whoever asked.',
    shown: ['test/e2e/run.test.ts > keeps the text of a failing command and ends with 1'],
  },
  'S3-15': {
    means: 'Tests start real programs that are fake on purpose; starting is never mocked.',
    shown: ['test/architecture.test.ts > lets no test replace what it tests: nothing is mocked'],
  },
  'S3-16': { means: 'A bridge says when it is no longer needed, and can be switched off.', open: 27 },

  // Defects
  'W3-1': {
    means: 'How to resume is chosen by the probed version.',
    shown: [
      'src/agents/codex/command.test.ts > %s with version %s is spoken to by %s',
      'src/agents/codex/command.test.ts > exec takes its prompt by stdin, resumed or not, with the schema as a file',
      'src/agents/claude-code/command.test.ts > gets only the flags it knows',
    ],
  },
  'W3-2': {
    means: 'A stale session id is dropped; no session is broken for ever.',
    shown: [
      'test/engine/session-gate.test.ts > what was refused is rebuilt under a new id, and the old one is dropped with a tag one can search for',
      'test/engine/session-gate.test.ts > where nothing is known of the conversation a new one begins, and says so',
      'test/real-agents/stale.test.ts > goes on within one task with a conversation whose file it refused',
    ],
  },
  'W3-3': {
    means: 'A reply that could not be delivered is sent again from the outbox; the task is not run again.',
    open: 27,
  },
  'W3-4': { means: 'A message that keeps failing ends as dead and is shown.', open: 27 },
  'W3-5': { means: 'A reply to a peer is tied to its question and makes no new task; hops are limited.', open: 26 },
  'W3-6': {
    means: 'A long run holds up no other session.',
    shown: ['test/engine/admission.test.ts > lets 199 lanes run while one lane of 200 is full'],
  },
  'W3-7': {
    means: 'A timeout is never an answer; its partial text is kept and the whole tree is gone.',
    shown: ['test/e2e/run.test.ts > ends with 124 when the time is up and keeps what was said'],
  },
  'W3-8': {
    means: 'A session id is read only from the declared stream, so a tool cannot forge one.',
    shown: [
      'src/agents/custom/agent.test.ts > the id of a conversation is found in the declared stream alone, in any case, and told at once',
      'src/agents/custom/agent.test.ts > what a tool prints later in the same stream forges no id',
      'test/engine/custom-sessions.test.ts > is given the id that it named on its stream, whatever its answer says, and is told all again where its home is gone',
    ],
  },
  'W3-9': {
    means: 'Every run has its workspace, its walls, a fresh environment, and its prompt outside argv.',
    shown: [
      'test/engine/run.test.ts > gets nothing of our environment but what its agent is given',
      "test/engine/run.test.ts > cannot read our home, and its prompt is in nobody's arguments",
    ],
  },
} as const satisfies Record<string, Requirement>
