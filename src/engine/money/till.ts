/** The money of one run, in units. */
export interface Till {
  /** Stored as open, but for what goes with entries that are on their way into the journal. */
  open: number
  /** The worst of all calls under way. */
  underWay: number
  /** What calls that are over came to, and nobody has been told yet. */
  untold: number
}

/** Open, and needed by nothing that is known. */
export const spareIn = ({ open, underWay, untold }: Till) => open - underWay - untold
