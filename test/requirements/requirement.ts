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

/** The file, then the title exactly as its source has it: it stands for every case, and in a suite of test/contracts for every file that calls it. */
export type TestName = `${string}.ts > ${string}`

/** The number of the issue that brings it. */
export type Bringer = 22 | 23 | 25 | 26 | 27 | 28
