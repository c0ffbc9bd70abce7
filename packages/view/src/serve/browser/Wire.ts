/** What the server of `kintsugi serve` and its page say to each other, as JSON. */

/** A row of a table: the tag that it handles, and its verdicts in order. */
export interface Chip {
  readonly key: string
  readonly verdicts: string
}

/** A tool, as it is known before anything runs. */
export interface ToolShown {
  readonly name: string
  readonly description: string
  /** The JSON Schema of its arguments. */
  readonly parameters: unknown
  readonly sideEffects: string
  /** Why a person has to approve its calls; absent if no person has to. */
  readonly approval?: string
  readonly rows: ReadonlyArray<Chip>
  /** The tags with which the tool may fail, as far as they are known. */
  readonly tags: ReadonlyArray<string>
  /** Those of its errors that no row handles: each ends a run. */
  readonly missing: ReadonlyArray<string>
}

/** An agent, as it is known before anything runs. */
export interface AgentShown {
  readonly name: string
  readonly kind: "agent" | "composition" | "function"
  /** The module and the export. */
  readonly where: string
  readonly prompt: string
  readonly tools: ReadonlyArray<ToolShown>
  /** The rows for model calls, and the tags of model errors without one. */
  readonly model: { readonly rows: ReadonlyArray<Chip>; readonly missing: ReadonlyArray<string> }
  /** The limits of a run, by name. */
  readonly budget: ReadonlyArray<readonly [limit: string, value: string]>
  /** The worst case of a run, in words. */
  readonly worst: string
  /** The JSON Schema of the input; absent if the input is a text. */
  readonly input?: unknown
  /** Whether the module brings a model of its own, and whether the page takes it without being asked. */
  readonly hasModel: boolean
  readonly prefersModel: boolean
}

/** Why the agent cannot run, and what to do about it. */
export interface Problem {
  readonly title: string
  /** What was found in the module. */
  readonly found: string
  /** The names of the services that are missing. */
  readonly missing: ReadonlyArray<string>
  /** The text of a file that would do. */
  readonly paste: string
}

export type Status = "running" | "waiting" | "completed" | "failed" | "interrupted" | "cut off"

/** What a person has chosen for a run. */
export interface Choice {
  readonly input: unknown
  readonly model: "stand-in" | "own"
  /** Whether tools run, or get results that are made of their schemas. */
  readonly tools: "run" | "made up"
  /** The names of faults. */
  readonly faults: ReadonlyArray<string>
  readonly seed: number
  /** A system prompt in the place of the agent's. */
  readonly prompt?: string
}

/** A run in the list. */
export interface RunShown extends Choice {
  readonly id: string
  readonly agent: string
  /** In milliseconds since the epoch. */
  readonly at: number
  readonly status: Status
  /** How many failures and broken arguments were healed. */
  readonly healed: number
  readonly turns: number
  /** In milliseconds. */
  readonly lasted: number
  /** The tag and message of the error that ended the run. */
  readonly error?: string
  /** The services that the run did not find. */
  readonly missing: ReadonlyArray<string>
  /** The run and the turn from which it was run again. */
  readonly of?: { readonly id: string; readonly turn?: number }
}

/** A fault that a person may choose. */
export interface FaultShown {
  readonly name: string
  readonly title: string
  readonly isPreset: boolean
}

export interface State {
  /** Counts the loads of the module. */
  readonly version: number
  readonly agent?: AgentShown
  readonly problem?: Problem
  readonly faults: ReadonlyArray<FaultShown>
  readonly runs: ReadonlyArray<RunShown>
}

/** The replay of recorded runs against the present tables, without a model. */
export interface Replayed {
  readonly runs: number
  /** How many of them completed when they were recorded, and now. */
  readonly before: number
  readonly now: number
  readonly each: ReadonlyArray<{
    readonly id: string
    readonly before: boolean
    readonly now: boolean
    readonly error?: string
  }>
}

/** What a person answers to a request for approval. */
export type Answer =
  | { readonly type: "approve"; readonly arguments?: unknown }
  | { readonly type: "refuse"; readonly reason: string }
