/** What one id means for Pawl, and exactly one word on where it stands. */
export type Requirement = { readonly means: string } & (Shown | Open | NotOurs)

interface Shown {
  /** All of them together show it. */
  readonly shown: readonly [TestName, ...TestName[]]
  readonly open?: never
  readonly notOurs?: never
}
interface Open {
  readonly open: Bringer
  readonly shown?: never
  readonly notOurs?: never
}
interface NotOurs {
  /** The ruling, then the reason in words. */
  readonly notOurs: `C-${number}: ${string}`
  readonly shown?: never
  readonly open?: never
}

/** The file, then the title exactly as its source has it; a suite in test/contracts stands for every file that calls it. */
export type TestName = `${string}.ts > ${string}`

/** The issue that brings it; by name where none is filed yet. */
export type Bringer =
  | 2
  | 3
  | 4
  | 5
  | 6
  | 7
  | 8
  | 9
  | 'later: teams'
  | 'later: channels'
  | 'later: checkpoints'
  | 'later: schedules'
