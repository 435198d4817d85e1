import type { Requirement } from './requirement.ts'

/** H: nobody asks for these, and everybody who looks hard tries them. */
export const hardCases = {
  'H-1': {
    means: 'A crash at any point loses no question, answer, reply, result or cost.',
    shown: [
      'test/crash/matrix.test.ts > $name',
      'test/crash/failpoints.test.ts > every failpoint has a cell for daemon and database, and every one after a commit for both',
      'test/crash/failpoints.test.ts > every move the engine makes has a failpoint before and after its commit',
    ],
  },
  'H-2': {
    means: 'Two tasks on one session never overlap; two sessions do.',
    shown: ['test/engine/run.test.ts > never overlaps with another of its session, and does with one of another'],
  },
  // All but the memories, of which there are none yet: test/secrets/canaries.test.ts.
  'H-3': { means: 'Secrets are never in argv, logs, memories, events or error texts.', open: 26 },
  'H-4': {
    means: 'A 5 MB line, a 1 MB prompt, binary output and a prompt that starts with a dash all work.',
    shown: [
      'test/engine/run.test.ts > takes a line of 5 MB, bytes that are not text and a NUL without harm',
      'test/e2e/run.test.ts > takes a prompt of 1 MB, one that starts with a dash, and one from stdin',
    ],
  },
  'H-5': {
    means: 'A grandchild that keeps stdout open does not hang a run.',
    shown: ['test/engine/run.test.ts > does not wait for a grandchild that keeps its output open'],
  },
  'H-6': {
    means: 'Time is passed in; the 5 s and 10 s waits are tested without waiting.',
    shown: [
      'src/engine/base/retry.test.ts > waits 5 s after the first try and 10 s after the second, and then gives up',
      'test/engine/time.test.ts > a run of 30 hours is started once',
      'test/engine/weeks/limits.test.ts > five weeks of limits on two accounts: every task ends, and nobody runs while its account is at its limit',
      'test/engine/weeks/limits.test.ts > a clock that jumps %s by hours while tasks are parked changes no outcome, and each wakes once a window',
    ],
  },
  'H-7': {
    means: 'Every adapter is tested with real processes: the real program, or one that is fake on purpose.',
    shown: [
      'test/adapters.test.ts > the adapter %s is tested with real processes',
      'test/adapters.test.ts > any ACP program is tried with three different real ones',
      'test/contracts/adapter.ts > gives the answer of a program that ends well',
    ],
  },
  'H-8': {
    means: 'Pawl works without network, container or bubblewrap, and says "not enforced" where that is so.',
    shown: [
      'test/e2e/without-bubblewrap.test.ts > no agent works unattended, and the refusal names the cure',
      'test/e2e/without-bubblewrap.test.ts > whoever names the profile without walls is served, and told in every place that nothing is enforced',
      'test/e2e/without-bubblewrap.test.ts > the demo works, for it is our own program, and doctor says that walls are not enforced',
    ],
  },
  'H-9': {
    means: 'Every limit and preset can be seen and changed, with checks and hints.',
    open: 22,
  },
  'H-10': {
    means: 'A stuck or silently failing agent is on the first screen.',
    shown: [
      'test/page/board.test.ts > the first screen shows what runs, waits and ended today, whenever it was made, and an agent that fails with what to do next',
      'test/engine/board.test.ts > an agent whose runs fail one after the other is not well until one succeeds, and a task that says nothing is stuck',
    ],
  },
  'H-11': {
    means: 'Resuming keeps every restriction.',
    shown: [
      'src/agents/claude-code/command.test.ts > what one task says of tools and folders comes after what the agent has, and a resumed conversation has all of it',
      'src/agents/codex/command.test.ts > what one task may not use is taken away, resumed or not',
      'test/real-agents/restrictions.test.ts > the real %s has no shell when the task takes it away, at first and when it goes on',
      'test/engine/task-fields.test.ts > stays when it is tried again, but for caps that are raised',
    ],
  },
  'H-12': { means: 'Agents cannot answer each other for ever.', open: 26 },
  'H-13': {
    means: 'A stale session heals by itself within one turn.',
    shown: [
      'test/real-agents/stale.test.ts > goes on within one task with a conversation whose file it refused',
      'test/contracts/real-program.ts > goes on after its session files were deleted: they are put back',
    ],
  },
  'H-14': {
    means: 'Each time a task comes to rest there is exactly one closing event, and followers end there.',
    shown: [
      'src/client/client.test.ts > events are followed until the task rests',
      'src/surfaces/http/sse.test.ts > until=rest ends with the resting event that nothing follows',
    ],
  },
  'H-15': {
    means: 'A retry repeats no side effect without saying so.',
    shown: [
      'src/engine/run/prompt.test.ts > is told that some of the work may be done, once tools have run',
      'src/engine/run/prompt.test.ts > tells a resumed agent that it was interrupted, and what the task is in case it never heard it',
      'test/real-agents/limits.test.ts > does not do again what it did before the limit',
    ],
  },
} as const satisfies Record<string, Requirement>
