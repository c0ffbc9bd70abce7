/** Watches one run of a sweep: plays its models, and records what the invariants check. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Model from "../model/Model.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as AgentEvent from "../event/AgentEvent.ts"
import type * as Usage from "../data/Usage.ts"
import type { FaultStep } from "./faults.ts"
import * as ScriptedModel from "./ScriptedModel.ts"

/** A start of a tool with unsafe side effects. */
interface Start {
  readonly tool: string
  readonly runId: string
  readonly turn: number
  readonly callId: string
  readonly key: string
  /** How this start of the tool ended; `cut off` if it was interrupted or died. */
  readonly end: "success" | "failure" | "cut off"
  /** What a later lookup found out; `undefined` if there was no lookup. */
  readonly lookedUp: "took effect" | "took none" | undefined
}

/** What was recorded of a run; the invariants check it. */
export interface Recording {
  readonly events: ReadonlyArray<AgentEvent.AgentEvent>
  /** The events that the reader of a streamed run got; `undefined` if the run was not streamed. */
  readonly seen: ReadonlyArray<AgentEvent.AgentEvent> | undefined
  /** How the run ended; `undefined` if it did not end within a day. */
  readonly exit: Exit.Exit<unknown, unknown> | undefined
  /** The instant of the interruption, and how many events there were by then; `undefined` without an interruption. */
  readonly interrupted: { readonly at: number; readonly events: number } | undefined
  /** The usage of each reply that the models have sent, in order. */
  readonly sent: ReadonlyArray<Usage.Usage>
  readonly starts: ReadonlyArray<Start>
  /** How many fibers and steps had not ended when the run ended. */
  readonly left: { readonly fibers: number; readonly steps: number }
  /** How many events and steps came in the day after the end of the run. */
  readonly later: { readonly events: number; readonly steps: number }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Records the steps of one run, and plays its models by a script. */
export class Recorder {
  readonly steps: Array<FaultStep> = []
  readonly starts: Array<Mutable<Start>> = []
  readonly sent: Array<Usage.Usage> = []
  /** The number of the last turn in which each agent called its model. */
  readonly asked = new Map<string, number>()
  /** How many steps have begun and not ended. */
  unfinished = 0
  interruption: Recording["interrupted"]
  readonly #lines: Readonly<Record<string, ReadonlyArray<ScriptedModel.ScriptedStep>>>
  readonly #events: () => number

  constructor(lines: Readonly<Record<string, ReadonlyArray<ScriptedModel.ScriptedStep>>>, events: () => number) {
    this.#lines = lines
    this.#events = events
  }

  readonly reached = (step: FaultStep): void => {
    this.steps.push(step)
    if (step.of !== undefined) this.unfinished++
  }

  readonly ended = (): void => {
    this.unfinished--
  }

  readonly interrupted = (at: number): void => {
    this.interruption ??= { at, events: this.#events() }
  }

  readonly substitute = (step: FaultStep, self: Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> => {
    const { of } = step
    if (of?.type === "stream part" && of.part.type === "finish") {
      const { usage } = of.part
      // the usage of the reply counts only when the run has received its finish part
      this.sent.splice(this.sent.lastIndexOf(usage), 1)
      return Effect.tap(self, () => Effect.sync(() => this.sent.push(usage)))
    }
    if (of?.type === "tool attempt" && of.isUnsafe) return this.#started(step, of, self)
    if (of?.type === "look-up") {
      return Effect.tap(self, (found) =>
        Effect.sync(() => {
          const start = this.starts.findLast(({ key }) => key === of.idempotencyKey)
          const tookEffect = Option.isOption(found) && Option.isSome(found)
          if (start !== undefined) start.lookedUp = tookEffect ? "took effect" : "took none"
        })
      )
    }
    return self
  }

  #started(
    { runId = "", turn }: FaultStep,
    {
      callId,
      idempotencyKey,
      tool
    }: { readonly callId: string; readonly idempotencyKey: string; readonly tool: string },
    self: Effect.Effect<unknown, unknown>
  ): Effect.Effect<unknown, unknown> {
    return Effect.suspend(() => {
      const start: Mutable<Start> = {
        tool,
        runId,
        turn,
        callId,
        key: idempotencyKey,
        end: "cut off",
        lookedUp: undefined
      }
      this.starts.push(start)
      return Effect.onExit(self, (exit) =>
        Effect.sync(() => {
          const isOwn = Exit.isFailure(exit) && exit.cause.reasons.every(({ _tag }) => _tag === "Fail")
          start.end = Exit.isSuccess(exit) ? "success" : isOwn ? "failure" : "cut off"
        })
      )
    })
  }

  /** The next answer of the script, by the agent and its turn. A repeated model call gets the same answer. */
  readonly #next = Effect.flatMap(RunContext.Current, (run) =>
    Effect.suspend((): Effect.Effect<ScriptedModel.ScriptedStep> => {
      const agent = run?.agent ?? "no agent"
      const turn = Math.max(1, run?.turn() ?? 1)
      this.asked.set(agent, Math.max(this.asked.get(agent) ?? 0, turn))
      const lines = this.#lines[agent]
      const found = lines?.[turn - 1] ?? lines?.at(-1)
      return found === undefined
        ? Effect.die(new Error(`the script has no lines for the agent '${agent}'`))
        : Effect.succeed(found)
    })
  )

  /** Records the usage that a failure reports, because the provider charges for it. */
  readonly #failed = ({ usage }: LlmError): Effect.Effect<void> =>
    Effect.sync(() => {
      if (usage !== undefined) this.sent.push(usage)
    })

  readonly model: Model.Service = {
    name: "scripted",
    provider: "scripted",
    generate: (request) =>
      Effect.flatMap(this.#next, ({ answer }) => answer(request)).pipe(
        Effect.tap(({ usage }) => Effect.sync(() => this.sent.push(usage))),
        Effect.tapError(this.#failed)
      ),
    stream: (request) =>
      Stream.unwrap(Effect.map(this.#next, (found) => ScriptedModel.streamOf(found, request))).pipe(
        Stream.tap((part) =>
          Effect.sync(() => {
            if (part.type === "finish") this.sent.push(part.usage)
          })
        ),
        Stream.tapError(this.#failed)
      )
  }
}
