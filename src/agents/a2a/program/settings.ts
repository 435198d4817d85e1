/** What the client is started with; a file in its home. */
export interface Settings extends Reach {
  /** Where the card is, or what it is the card of. */
  readonly url: string
  /** Goes with each message. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Files of the remote agent that are too large, or too many, are left out. */
  readonly maxFileBytes: number
  readonly maxFiles: number
}

/** Whom it may talk to. */
export interface Reach {
  /** Hosts with their ports, as `new URL().host` has them. */
  readonly hosts: readonly string[]
  /** Their names may lead to this machine or a private network. */
  readonly local: boolean
  /** The header that the key is shown in; left out: `Authorization: Bearer`. */
  readonly keyHeader?: string | undefined
}

/** The interface of the remote agent that was chosen, by whoever has judged its card. */
export interface Chosen {
  readonly url: string
  readonly protocolBinding: string
  readonly protocolVersion: string
  readonly tenant: string
  readonly streaming: boolean
}

/** How far an earlier run came. */
export interface Bookmark {
  readonly context?: string | undefined
  readonly task?: string | undefined
  /** What was asked, by its name. */
  readonly sent?: string | undefined
  /** How the remote task ended was told to its end. */
  readonly over?: boolean | undefined
  /** The message of an answer that was given while a run waited, and a digest of its words. */
  readonly live?: string | undefined
  readonly said?: string | undefined
}
