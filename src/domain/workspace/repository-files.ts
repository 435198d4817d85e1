/** What an agent is given of the instruction files at the top of its workspace. */
export interface InstructionFiles {
  /** False: the settings of the agent say that it gets none. */
  readonly isWanted: boolean
  /** Of each list the first file that is there is handed over. */
  readonly given: readonly (readonly string[])[]
  /** Files that the program reads by itself wherever the profile shows them. */
  readonly own?: readonly string[] | undefined
}

/** One instruction file of a repository, as the agent is given it. */
export interface RepositoryText {
  /** Relative to the workspace. */
  readonly path: string
  readonly text: string
  /** Only its beginning. */
  readonly isCut: boolean
}

/** Configuration of a repository that an agent program takes by itself, and that Pawl keeps from it because it can run code. */
export interface RepositoryFeature {
  /** Relative to the workspace; `*` stands for any characters within one name. */
  readonly path: string
  /** What one of them is called; they are counted. Left out: the file is told by its path. */
  readonly called?: string | undefined
  /** A file of JSON with lists of hooks by event; those are counted as well. */
  readonly hasHooks?: true
  /** It counts where a profile trusts the repository. Left out: the program is told to leave it alone all the same. */
  readonly countsIfTrusted?: true
}
