/** The parts of a script, which are plain data. */
import type * as Advice from "../recording/Advice.ts"

/** An error of the recording. */
export interface Failure {
  readonly tag: string
  readonly message: string
  /** The JSON of an error of this library, which the script makes anew; absent for other errors. */
  readonly json?: Readonly<Record<string, unknown>>
}

/** One attempt of a model call: its time in milliseconds, and its end. */
export type ModelStep = { readonly after: number } & (
  | { readonly type: "reply"; readonly reply: Readonly<Record<string, unknown>> }
  /** `shown` is the text that a reader of the stream had got. */
  | { readonly type: "fails"; readonly failure: Failure; readonly shown?: string }
  | { readonly type: "dies"; readonly message: string }
  | { readonly type: "never" }
)

/** A run that an attempt of a tool starts, and how long after the attempt, or after the run before it. */
export interface Started {
  readonly agent: string
  readonly input: string
  readonly after: number
}

/**
 * One attempt of a tool: its time in milliseconds, the runs that it starts, and its end. The runs come one after the other (`isInTurn`), and
 * its time counts from the end of the last one; or they are at work at once. The end `run` is that of its last run.
 */
export type Attempt = {
  readonly after: number
  readonly runs: ReadonlyArray<Started>
  readonly isInTurn: boolean
} & (
  | { readonly type: "gives"; readonly text: string }
  | { readonly type: "fails"; readonly failure: Failure }
  | { readonly type: "dies"; readonly message: string }
  | { readonly type: "never" }
  | { readonly type: "run" }
)

/** What a fixer has answered, and how long it took. A fixer that was cut off has neither an answer nor a failure. */
export type Fixed = { readonly after: number } & (
  | { readonly answer: string }
  | { readonly failure: Failure }
  | { readonly cut: "dies" | "never" }
)

/** One rung of a row, as far as the verdicts show it. */
export type Rung =
  | { readonly kind: "retry"; readonly delays: ReadonlyArray<number> }
  | { readonly kind: "fix"; readonly answers: ReadonlyArray<Fixed>; readonly isResult: boolean }
  | { readonly kind: "respondWith"; readonly text: string }
  | { readonly kind: "tell" | "escalate" | "raise" | "rethrow" }

/** The row for an error. Calls that were treated in different ways each have their own rungs. */
export interface Row {
  readonly tag: string
  readonly rungs: ReadonlyArray<Rung>
  /** The rungs for calls that differ from `rungs`, by the id of the call. */
  readonly byCall: ReadonlyMap<string, ReadonlyArray<Rung>>
}

/** A tool, with the attempts of each call in order. */
export interface ToolScript {
  readonly name: string
  /** The arguments for which a person was asked, as JSON; empty for all calls. Absent if the tool needs no approval. */
  readonly approval?: ReadonlyArray<string>
  readonly calls: ReadonlyMap<string, ReadonlyArray<Attempt>>
  readonly rows: ReadonlyArray<Row>
}

/** The end of a run without a model: its output, or its failure. */
export type Answer = { readonly after: number } & ({ readonly text: string } | { readonly failure: Failure })

/** An agent, with the replies of its model in order. */
export interface AgentScript {
  readonly name: string
  readonly prompt: string | undefined
  readonly models: ReadonlyArray<ModelStep>
  /** The ends of its runs, if they ask no model. */
  readonly answers: ReadonlyArray<Answer>
  readonly tools: ReadonlyArray<ToolScript>
  /** Whether the model has called the built-in tool `escalate` or `throwException`. */
  readonly builtIn: ReadonlyArray<"escalate" | "throwException">
  /** The rows for failures of its model calls. */
  readonly rows: ReadonlyArray<Row>
  /** The rows for calls of tools that do not exist. */
  readonly unknown: ReadonlyArray<Row>
  /** The calls that a policy has denied, with the reason. */
  readonly denied: ReadonlyMap<string, string>
  readonly budget: Readonly<Record<string, number>>
  /** Whether a failed call interrupts the others of its reply. */
  readonly interruptsSiblings: boolean
  /** Whether a streamed attempt that breaks off is discarded, and asked for again. */
  readonly restarts: boolean
}

/** How the run ended. */
export type End =
  | { readonly type: "completed"; readonly text: string }
  | {
      readonly type: "failed"
      readonly failure: Failure
      readonly isDefect: boolean
      /** The agent and the tool in which the failure came up; without a tool, it was a model call or the run itself. */
      readonly agent: string
      readonly tool: string | undefined
      /** What would have gone on, as a report says it. */
      readonly advised: Advice.Row | undefined
    }
  /** `after` the start, in milliseconds. */
  | { readonly type: "interrupted"; readonly after: number }

/** A recorded run as a script. */
export interface Script {
  readonly input: string
  /** When the run began, in milliseconds since the epoch. */
  readonly at: number
  /** How long it took, in milliseconds. */
  readonly lasted: number
  /** Sub-agents stand before the agents that start them; the last one is the agent of the run. */
  readonly agents: ReadonlyArray<AgentScript>
  /** The decisions of persons in the order of the requests, with the time that each took. */
  readonly decisions: ReadonlyArray<{ readonly after: number; readonly decision: unknown }>
  readonly isStreamed: boolean
  readonly end: End
}
