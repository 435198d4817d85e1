import type { z } from 'zod'
import { type Abilities, type Ability, abilities } from '../domain/agent/abilities.ts'
import type { WireName } from '../domain/agent/models.ts'
import type { ToolExchange } from '../domain/agent/tool-exchange.ts'
import type { AgentEvent } from '../domain/event/event.ts'
import type { Voice } from '../domain/event/live-text.ts'
import type { Utterance } from '../domain/event/transcript.ts'
import type { Usage } from '../domain/money/usage.ts'
import type { ToolAccess } from '../domain/profile/access.ts'
import type { QuestionAsked } from '../domain/question/question.ts'
import type { Category, Outcome } from '../domain/run/outcome.ts'
import type { CodePath } from '../domain/workspace/code-paths.ts'
import type { InstructionFiles, RepositoryFeature, RepositoryText } from '../domain/workspace/repository-files.ts'
import type { Command } from '../sandbox/port.ts'
import type { Child } from '../sandbox/process/child.ts'

export { type Abilities, type Ability, abilities } from '../domain/agent/abilities.ts'
export type { Command } from '../sandbox/port.ts'

/** Speaks to one kind of agent program. The engine knows nothing of any agent beyond this. */
export interface Adapter<Options = unknown> {
  /** Stable: stored with every task. */
  readonly name: string
  readonly title: string
  /** Strict: an option it does not know is refused, never ignored. */
  readonly options: z.ZodType<Options>
  readonly can: Abilities
  /** The program is Pawl's own: it may run where no walls can be built. */
  readonly isOurs?: boolean
  /**
   * The agent works on another machine and keeps its conversations there: it is told of no path of this one, the files of a task are given to its program alone, and nothing is
   * looked for in the session home. The id of a conversation is all that is needed to go on with it.
   */
  readonly isElsewhere?: boolean | undefined
  /** An agent entry that exists without any configuration, if the program needs none. */
  readonly builtin?: { readonly name: string; readonly options: Options } | undefined
  /** How its conversations lie on disk. Undefined: it keeps none that could be gone on with. */
  readonly sessions?: SessionFiles | undefined
  /** How the program proves who pays for the model. Undefined: it needs no key and no login. */
  readonly login?: Login | undefined
  /** How the program asks for its model, if it can be told where. Undefined: it has none, or nobody knows. */
  models?(options: Options): ModelUse | undefined
  /** Where the program itself talks to while no `baseUrl` is set, as network rules: its model and whoever renews its login. */
  readonly hosts?: readonly string[] | undefined
  /** What of a workspace the program obeys, be it as configuration or as instructions. */
  readonly codePaths?: readonly CodePath[] | undefined
  /** Which instruction files of a repository its agent is given, as text. Undefined: none, and the program may read them or not. */
  instructionFiles?(options: Options): InstructionFiles
  /** What else of a repository the program would take by itself and is kept from it; a run tells which of it there is. */
  readonly repositoryFeatures?: readonly RepositoryFeature[] | undefined
  /** Names of folders that the program never looks into, wherever they lie: where it works on a copy of the workspace, they are not copied. */
  readonly unread?: readonly string[] | undefined
  /** The tools that the program brings, as it calls them; what the profile's rules mean for each of them is told at its start. */
  readonly ownTools?: readonly string[] | undefined
  /** Versions of the program that this adapter was tried with, as its releases are numbered. Undefined: nobody has tried it with a real one. A newer one is told of, and used. */
  readonly tried?: TriedVersions | undefined
  /** The command that installs the program, as its maker documents it. */
  readonly install?: string | undefined

  /** This adapter as it is for an agent with these options, where they decide what it can do. */
  suited?(options: Options): Adapter<Options>

  /** False: under these rules the program cannot go on with a conversation of an earlier process, and what was said is told to a new one. */
  goesOn?(spec: Pick<LaunchSpec<Options>, 'options' | 'toolAccess'>): boolean

  /** Installed? Which version? Logged in? Answers within five seconds, never throws, and executes nothing that an agent may have written. */
  probe(options: Options, place: ProbePlace): Promise<AgentHealth>

  /** How to launch it, as data: the sandbox decides how it is really run. Throws a `PawlError` for what it cannot do. */
  command(spec: LaunchSpec<Options>): Command

  /** For those who work elsewhere: ends there what a turn could not end. Undefined: there is nothing that could be left. */
  readonly recall?: Recall<Options> | undefined

  /** Takes over a started child. Warm adapters serve many turns, the others one. A promise where the code that speaks to the program is loaded for its first run. */
  open(child: Child, spec: LaunchSpec<Options>): Conversation | Promise<Conversation>
}

export interface Recall<Options = unknown> {
  /** Of what the program called its conversation, newest first: the id under which work of this task may still go on. Undefined: none does. */
  left(vendorIds: readonly string[], task: string): string | undefined
  /** Speaks to the program of the adapter, started for nothing else. Never rejects for what the other side does; `signal` ends it. */
  end(child: Child, spec: LaunchSpec<Options>, vendorId: string, signal: AbortSignal): Promise<Recalled>
}

export interface Recalled {
  /** Nothing of it goes on any more. */
  readonly ended: boolean
  /** A sentence. */
  readonly detail: string
}

/** An agent that is there without configuration: everything about its program is data for an adapter. */
export interface Preset {
  /** The agent's name, and what `preset:` says in an agent's settings. */
  readonly name: string
  readonly title: string
  readonly adapter: string
  /** Options of the adapter, as somebody would write them. */
  readonly options: Readonly<Record<string, unknown>>
  /** Fixed variables of its program. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Variables that can hold its key, the preferred one first. */
  readonly keys: readonly string[]
  /** The command that installs it. */
  readonly install: string
  /** Where its maker describes it. */
  readonly docs: string
  /** The version that our tests have run, or that there is none: then it is made by the maker's words alone. */
  readonly tried: string | 'untried'
}

export const canOnly = (...able: Ability[]): Abilities =>
  Object.fromEntries(abilities.map((name) => [name, able.includes(name)])) as Record<Ability, boolean>

/** Both included. `from` is the oldest that works, `to` the newest that the tests run. */
export interface TriedVersions {
  readonly from: string
  readonly to: string
}

/** Where a program is looked for. Passed in, because the environment is read in one place only. */
export interface ProbePlace {
  /** The search path that runs will have. */
  readonly path: string
  /** What a relative command is relative to. Unknown: it is looked up in the workspace of each task. */
  readonly folder?: string | undefined
  /** More folders that agents write, beside `folder`: nothing in them is executed outside of the walls. */
  readonly untrusted?: readonly string[] | undefined
  /** Where the agent's model is served, if its settings name a place, and which model it is: for programs that are nothing without them. */
  readonly endpoint?: string | undefined
  readonly model?: string | undefined
  /** The home of Pawl's own user, where programs keep their logins. */
  readonly home?: string | undefined
  /** Which of the named variables are set for Pawl, with their values. */
  readonly environment?: ((names: readonly string[]) => Record<string, string>) | undefined
  /** What programs have said of their version, as long as each is the same file: asking one may start it for seconds. Undefined: it is asked. */
  readonly versions?: VersionsKept | undefined
}

export interface VersionsKept {
  get(file: string): string | undefined
  set(file: string, version: string): unknown
}

export interface AgentHealth {
  readonly installed: boolean
  /** The very file to start, where that is not what the search path gives: the program behind a launcher script, for one. */
  readonly program?: string | undefined
  /** Undefined also where the program is not asked for it, because agents may write it. */
  readonly version?: string | undefined
  /** Undefined where the program needs no login, or cannot tell. */
  readonly loggedIn?: boolean | undefined
  readonly healthy: boolean
  readonly detail: string
  /** What to do about it, as a command where there is one. */
  readonly fix?: string | undefined
}

export interface LaunchSpec<Options = unknown> {
  readonly options: Options
  readonly model?: string | undefined
  readonly systemPrompt?: string | undefined
  readonly prompt: string
  /** The paths as the agent will see them inside its walls. */
  readonly workspace: string
  readonly home: string
  /** The files of images that belong to the prompt, for those whose programs are told of them at their start. */
  readonly images?: readonly string[] | undefined
  /** The program's own id of a conversation to go on with; its file has been seen. */
  readonly resume?: string | undefined
  /** The id to give to a new conversation. Only for those who can `preassignSession`, and never together with `resume`. */
  readonly newSession?: string | undefined
  readonly extraArgs: readonly string[]
  /** What `probe` found: the file to start, and its version, by which flags are chosen. */
  readonly program?: string | undefined
  readonly version?: string | undefined
  /** The model endpoint to talk to instead of the program's own. */
  readonly baseUrl?: string | undefined
  /** The endpoint that the agent's settings name, as Pawl itself reaches it from outside of the walls. */
  readonly endpoint?: string | undefined
  /** Everything it asks of a model is answered from a recording: nobody else need be there. */
  readonly replayed?: boolean | undefined
  /** The only models that are served there; undefined if it may ask for any. Its own `model` is one of them. */
  readonly servedModels?: readonly string[] | undefined
  /** How the program will be let in. Keys themselves never pass through here. */
  readonly access?: Access | undefined
  /** The answer must be JSON of this schema. Only for those who can give `structuredOutput`. */
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined
  /** What one run may use; for programs that can hold themselves to it. Ours counts whatever they do. */
  readonly maxTurns?: number | undefined
  readonly maxUsd?: number | undefined
  /** True inside walls that hold: the program's own sandbox would only be in the way. */
  readonly walled?: boolean | undefined
  /** Our tools are served at the door, to those who can `mcp`: `PAWL_DOOR_URL` and `PAWL_DOOR_TOKEN` are in the environment. */
  readonly tools?: boolean | undefined
  /** The user's own servers of tools, by name: each is served at the door as ours are, at `/mcp/` and its name. None without `tools`. */
  readonly servers?: readonly string[] | undefined
  /** The door as it is reached from inside; known once the program is started, so only to `open`. For protocols that name servers of tools in a message. */
  readonly door?: DoorGiven | undefined
  /** False: none of the program's own tools may be offered to the model. Only for those who can do `nativeToolsOff`. */
  readonly native?: boolean | undefined
  /** What one task says of tools, as rules: those used without asking, as far as `toolAccess` leaves them free, and those it does not have. Rules of the profile hold both. */
  readonly allowedTools?: readonly string[] | undefined
  readonly disallowedTools?: readonly string[] | undefined
  /** More folders that the agent may read, as it sees them. */
  readonly contextDirs?: readonly string[] | undefined
  /** Tools that are never offered, as a profile names them. */
  readonly disabledTools?: readonly string[] | undefined
  /** Which of the program's `ownTools` are free, asked for, or absent. Undefined: nobody has decided, and it asks as it does by itself. */
  readonly toolAccess?: ToolAccess | undefined
  /** The instruction files of the repository, for those that name `instructionFiles`. False: the profile gives none, so the program must not read any by itself either. */
  readonly instructions?: readonly RepositoryText[] | false | undefined
  /** What the profile allows of skills and subagents. Undefined: nobody has decided, and the program has its own. */
  readonly skills?: SkillsGiven | undefined
  readonly subagents?: SubagentsGiven | undefined
}

export interface DoorGiven {
  readonly url: string
  readonly token: string
  /** Resolves when the program has been told for the first time which tools of ours there are, or has not asked for a while: for those that begin without them. */
  readonly listed?: (() => Promise<void>) | undefined
  /** For programs whose own protocol carries messages of MCP: they are answered as those that come to the door are. */
  readonly exchange?: ToolExchange | undefined
}

export interface SkillsGiven {
  /** May the program's own be used as well? */
  readonly own: boolean
  /** Read-only, with each skill in a folder of its name below `skills`; as seen inside. Undefined if there is none. */
  readonly folder?: string | undefined
  /** `path` is the folder of the skill, with its SKILL.md; as seen inside. */
  readonly items: readonly { readonly name: string; readonly description: string; readonly path: string }[]
}

export interface SubagentsGiven {
  /** Which of the program's own may be used as well. */
  readonly own: 'all' | readonly string[]
  readonly items: readonly SubagentGiven[]
}

export interface SubagentGiven {
  readonly name: string
  readonly description: string
  readonly prompt: string
  /** All that the agent itself has if left out. */
  readonly tools?: readonly string[] | undefined
  readonly model?: string | undefined
}

/** A key in a variable of the environment, a script that prints the key, the program's own login, or nothing at all. */
export type Access =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'script'; readonly path: string }
  | { readonly kind: 'login' }
  | { readonly kind: 'none' }

/** How a program keeps its conversations in a home. Paths are relative to that home. */
export interface SessionFiles {
  /** What an id of this program looks like. Anything else is no conversation of it, and never becomes part of a path. */
  readonly id: RegExp
  /**
   * Where the file of exactly this conversation may lie, in the order in which to look; `*` stands for any characters within one name.
   * The file only grows, unless it is `rewritten`: what was archived of it once stays true.
   */
  layouts(vendorId: string): readonly string[]
  /** Of several files that one layout leads to, the one whose name comes first is the conversation. Left out: the one written last. */
  readonly oldest?: boolean | undefined
  /** A call of a tool that was cut short is missing in the conversation, so the next prompt tells of it. */
  readonly dropsCutCalls?: boolean | undefined
  /** Its file is rewritten in place, as that of a database is. Undefined: it only grows. */
  readonly rewritten?: RewrittenFiles | undefined
  /** Folders whose files belong to the conversation whose file was found at `path`. */
  beside?(path: string, vendorId: string): readonly string[]
  /** The conversation in the program's own form, to be put at `path`, so that it can be gone on with under `vendorId`. */
  rebuild?(transcript: readonly Utterance[], place: RebuildPlace): { readonly path: string; readonly content: string }
}

/** What makes one with a file that is rewritten: a copy of one of them is of use only with those of the others from the same moment. */
export interface RewrittenFiles {
  /** Stored and put back together with it, as they are when a turn is over and nobody writes. */
  readonly with: readonly string[]
  /** Made anew by the program, and wrong beside files that were put back. */
  readonly without: readonly string[]
}

export interface RebuildPlace {
  readonly vendorId: string
  readonly workspace: string
  readonly model?: string | undefined
  readonly version?: string | undefined
}

export interface Login {
  /** Variables that can hold a key or token, the preferred one first. A key from a file is given in the first. */
  readonly variables: readonly string[]
  /** Files of the program's own login, relative to the home of Pawl's user and, the same, to the session home. */
  readonly files: readonly CredentialFile[]
  /** Takes its key from a script as well. */
  readonly script?: boolean | undefined
}

/** How a program asks for its model. */
export interface ModelUse {
  readonly wire: WireName
  /** Its maker's own service, for agents that name no other. */
  readonly endpoint: string
  /** What the program wants behind the address that it is given, such as `/v1`. */
  readonly suffix?: string | undefined
  /** Which of the login's variables hold a key that anybody may use in its place. What the others hold, such as a token of a subscription, is for the program alone. */
  readonly keys: readonly string[]
  /**
   * The most tokens that Pawl counts for its first request beside the prompt, as it was measured with the real program, and the cheapest model of its maker, for agents that
   * name none. Undefined where nobody has measured it.
   */
  readonly firstRequest?: { readonly mostTokens: number; readonly cheapestModel: string } | undefined
  /** What its endpoint serves is paid for by nobody. */
  readonly isFree?: boolean | undefined
  /** It asks again by itself, for minutes and unseen, and cannot be told not to. The gateway then gives it no reason to: whether to try again is our decision. */
  readonly retries?: boolean | undefined
}

export interface CredentialFile {
  readonly path: string
  /** Tells which of two versions is the newer one, by a time in epoch milliseconds. Undefined if the text is no login. */
  newness(text: string): number | undefined
  /** When it ends, in epoch milliseconds: about then the program renews it, which can be done once only. Undefined if it says no time. */
  expiresAt?(text: string): number | undefined
  /** What a renewal does not change: whose login it is, as far as the text tells. */
  account?(text: string): string | undefined
}

export interface Conversation {
  /**
   * One prompt to its end: emits events and winds down when `turn.signal` aborts.
   * Resolves whatever the agent does; what the verdict means for the task is the engine's business.
   * One at a time; those who can stay `warm` are given another after one that ended with `mayGoOn`.
   */
  turn(turn: Turn): Promise<Verdict>
  /** Lets the program go; whoever owns the child still stops it. May be called twice, and while no turn is under way. */
  close(): Promise<void>
  /**
   * For those that may stay `warm`: tells once, when the program has begun to do something by itself while no turn was under way. It is refused whatever it asks,
   * gets no further turn, and is to be ended: what it does belongs to no run, and nobody counts it.
   */
  onUnbidden?(tell: () => void): void
  /** The program is asked to stop by its own protocol when a turn is aborted, and is worth waiting a moment for. */
  readonly interrupts?: boolean | undefined
}

export interface Turn {
  readonly prompt: string
  /** Images that belong to it; it names their files as well. Those who can take `images` give them to their model, the others leave them. */
  readonly images?: readonly TurnImage[] | undefined
  readonly signal: AbortSignal
  /**
   * Stores what the agent asks; durable before anything else happens. If somebody watches and answers all of it within a short time, it resolves with the answers, in
   * that order, and the turn goes on. Otherwise with undefined: the answers may take days, so the adapter ends the turn as `blocked`, and a later turn brings them as
   * its prompt. Rejects if the run is over.
   */
  ask(questions: readonly QuestionAsked[]): Promise<readonly string[] | undefined>
  /** May the agent do this? */
  permit(request: PermissionRequest): Promise<Permission>
  /** Records a fact about the agent. Waits when the journal is behind: the adapter must await it before it reads on. */
  emit(event: AgentEvent): Promise<void> | void
  /**
   * A piece of what the agent is saying just now, for those who watch; the whole comes by `emit`. Costs next to nothing, is never waited for, and is a sign of life, unless
   * it `isLine`: a piece of a line of plain text that has not come to its end. Bytes that drip show no work.
   */
  readonly grow?: ((voice: Voice, piece: string, isLine?: boolean) => void) | undefined
  /** Tells of a sign of life that is not recorded and that `emit` does not tell. Costs next to nothing. */
  readonly sign?: ((sign: LifeSign) => void) | undefined
  /** Stays the same for what is asked here, however often a run of it is cut short: for those who must not be asked for it twice. */
  readonly askId?: string | undefined
  /** Resolves when the id of the conversation that was told last is in the database: whoever comes after us will find it. */
  stored?(): Promise<void>
  /** Once `signal` is aborted: another run goes on with this, so what was begun elsewhere is not to be ended. */
  goesOnLater?(): boolean
  /** W3C trace context (`traceparent`) for those whom the program asks. Undefined where nobody collects spans and none came with the task. */
  readonly trace?: string | undefined
}

/**
 * - `news`: a piece of something that the agent says or does.
 * - `call`: a tool call that goes on says so (`tool_progress`, `task_progress`). It counts like the open call: for hours.
 * - `heartbeat`: the program lives (`keep_alive`). A timer sends it whether or not work proceeds, so it counts like use of the CPU: for half an hour. Counting it for ever
 *   would keep a program that waits for nothing; not counting it would end one whose slow model sends nothing else.
 */
export type LifeSign = 'news' | 'call' | 'heartbeat'

export interface TurnImage {
  /** Its file, as the agent sees it. */
  readonly path: string
  /** `image/png` and the like. */
  readonly type: string
  read(): Promise<Uint8Array>
}

export interface PermissionRequest {
  readonly tool: string
  readonly input: unknown
}
/** `asked`: a person was asked about it, so the adapter ends the turn as `blocked`, as after `ask`. */
export type Permission =
  | { readonly allow: true }
  | { readonly allow: false; readonly message: string; readonly asked?: boolean | undefined }

/** How a turn ended, as the adapter saw it. Hard facts known to the engine (signal, timeout, cancel) outrank it. */
export interface Verdict {
  readonly outcome: Extract<Outcome, 'succeeded' | 'partial' | 'empty' | 'failed' | 'blocked'>
  readonly category?: Category | undefined
  /** One sentence for the person; the details stay in the raw log. */
  readonly message?: string | undefined
  /** The answer, also when the outcome is bad: text is never thrown away. */
  readonly text: string
  readonly usage?: Usage | undefined
  readonly costUsd?: number | undefined
  /** The program's own id of the conversation, as it came back. */
  readonly vendorSession?: string | undefined
  /** A time the program named after which it will work again. */
  readonly retryAt?: Date | undefined
  /** What it wrote to standard error last, for the log of whoever looks after it. */
  readonly complaint?: string | undefined
  /** It failed, and neither the program nor its last words say why. */
  readonly isUnexplained?: boolean | undefined
  /** The program waits for another turn of the same conversation. */
  readonly mayGoOn?: boolean | undefined
}
